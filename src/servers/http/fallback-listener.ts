import type { Socket } from 'node:net';

/** The node:http listener as the fast path sees it. */
export interface FallbackListener {
  /** Whether every response closes its connection. */
  readonly draining: boolean;
  /** Open requests of both servers. */
  readonly inFlight: number;
  /** A request of the fast path has ended. */
  onRequestEnd(): void;
  /**
   * Takes over a connection between two requests.
   * @param bytes - already read of the next request.
   * @param isPipelined - they arrived while the request before them was answered.
   */
  adopt(socket: Socket, bytes: Buffer, isPipelined: boolean): void;
}

/** A server that gets plain-text connections first and passes unsupported ones to its fallback. */
export interface Listener {
  readonly inFlight: number;
  /** Called once, before the first connection. */
  setFallback(fallback: FallbackListener): void;
  /** Takes a connection that was not read from. */
  accept(socket: Socket): void;
  /** Closes connections that were used and have no request. */
  closeIdle(): void;
  closeAll(): void;
}
