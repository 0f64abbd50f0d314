import type { Socket } from 'node:net';

/** The listener, as a door in front of it sees it. */
export interface FallbackListener {
  /** Whether every answer closes its connection. */
  readonly draining: boolean;
  /** Requests that are being answered behind this door and at it. */
  readonly inFlight: number;
  /** A request of the door in front has ended. */
  onRequestEnd(): void;
  /**
   * Takes a connection over for good, between two messages.
   * @param bytes - what was read of the next one.
   * @param isBehindAnswer - they came while the message before was being answered.
   */
  adopt(socket: Socket, bytes: Buffer, isPipelined: boolean): void;
}

/** Whoever sees connections in plain text first, and hands those on that are nothing for it. */
export interface Listener {
  /** Requests that are being answered here. */
  readonly inFlight: number;
  /** Says who stands behind; once, before any connection comes. */
  setFallback(fallback: FallbackListener): void;
  /** Takes a connection of which nothing was read yet. */
  accept(socket: Socket): void;
  /** Closes connections that were in use and have no request now. */
  closeIdle(): void;
  /** Cuts every connection. */
  closeAll(): void;
}
