import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import type { Logger } from '../base/log.ts';

type ListenAddress = Readonly<{ host: string; port: number }>;

/** @param failed - log message for later errors. @returns the bound address. */
export async function listen(
  server: Server,
  { host, port }: ListenAddress,
  log: Logger,
  failed: string,
): Promise<AddressInfo> {
  server.listen({ host, port });
  await once(server, 'listening');
  server.on('error', (fault) => log.error({ err: fault }, failed));
  return server.address() as AddressInfo;
}

/** Open connections of a server. A single sweep timer runs while any connection is open. */
export abstract class OpenConnections<Connection> {
  readonly #open = new Set<Connection>();
  readonly #sweepIntervalMs: number;
  #timer: NodeJS.Timeout | null = null;
  #onEmpty: (() => void) | null = null;

  constructor(sweepIntervalMs: number) {
    this.#sweepIntervalMs = sweepIntervalMs;
  }

  get size(): number {
    return this.#open.size;
  }

  add(connection: Connection): void {
    this.#open.add(connection);
    this.#timer ??= setInterval(() => this.sweep(performance.now()), this.#sweepIntervalMs);
  }

  delete(connection: Connection): void {
    this.#open.delete(connection);
    if (this.#open.size > 0) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#onEmpty?.();
  }

  protected get open(): ReadonlySet<Connection> {
    return this.#open;
  }

  protected abstract sweep(nowMs: number): void;

  /** Supports one waiter at a time. @returns false if connections are still open after `withinMs`. */
  protected waitUntilEmpty(withinMs?: number): Promise<boolean> {
    if (this.#open.size === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = withinMs === undefined ? undefined : setTimeout(() => resolve(false), withinMs);
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

export type HeartbeatOptions = Readonly<{
  pingIntervalMs: number;
  pongTimeoutMs: number;
  /** How long a connection may go without a subscription, a call, or a message or ping from the client. */
  idleTimeoutMs: number;
}>;

export type Pulse = Readonly<{
  isBusy: boolean;
  bytesIn: number;
  bytesOut: number;
  /** Whether there are unsent bytes, which may delay a ping. */
  hasBacklog: boolean;
}>;

export type HeartbeatAction = 'ping' | 'UNRESPONSIVE' | 'IDLE' | null;

/** Keepalive (ping) and idle state of one connection. All times are on a monotonic clock. */
export class Heartbeat {
  #usedAtMs: number;
  #pingedAtMs: number;
  /** Start of the pong timeout; null when no ping is outstanding. */
  #waitingSinceMs: number | null = null;
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(nowMs: number) {
    this.#usedAtMs = nowMs;
    this.#pingedAtMs = nowMs;
  }

  recordActivity(nowMs: number): void {
    this.#usedAtMs = nowMs;
  }

  /** @returns the action that is due; a returned ping counts as sent. */
  check(pulse: Pulse, nowMs: number, options: HeartbeatOptions): HeartbeatAction {
    if (pulse.isBusy) this.#usedAtMs = nowMs;
    if (nowMs - this.#usedAtMs >= options.idleTimeoutMs) return 'IDLE';
    if (this.#waitingSinceMs !== null) this.#updateWait(pulse, nowMs);
    if (this.#waitingSinceMs !== null && nowMs - this.#waitingSinceMs >= options.pongTimeoutMs) {
      return 'UNRESPONSIVE';
    }
    if (this.#waitingSinceMs !== null || nowMs - this.#pingedAtMs < options.pingIntervalMs) return null;
    this.#pingedAtMs = nowMs;
    this.#waitingSinceMs = nowMs;
    this.#bytesIn = pulse.bytesIn;
    this.#bytesOut = pulse.bytesOut;
    return 'ping';
  }

  /** Any incoming byte shows that the client is alive; outgoing bytes ahead of the ping extend the timeout. */
  #updateWait({ bytesIn, bytesOut, hasBacklog }: Pulse, nowMs: number): void {
    if (bytesIn !== this.#bytesIn) this.#waitingSinceMs = null;
    else if (hasBacklog && bytesOut !== this.#bytesOut) this.#waitingSinceMs = nowMs;
    this.#bytesOut = bytesOut;
  }
}

type Readable = Readonly<{ pause(): void; resume(): void }>;

/** Pauses reading from a client that sends too fast, so that the transport applies backpressure. */
export class ReadPause {
  readonly #socket: Readable;
  #untilMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(socket: Readable) {
    this.#socket = socket;
  }

  get isPaused(): boolean {
    return this.#timer !== null;
  }

  /** Pauses until `untilMs` on the `performance.now()` clock. Never shortens the current pause. */
  extend(untilMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, untilMs);
    if (this.#timer !== null) return;
    this.#socket.pause();
    this.#schedule();
  }

  resume(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#socket.resume();
  }

  #schedule(): void {
    const remainingMs = Math.max(0, this.#untilMs - performance.now());
    this.#timer = setTimeout(
      () => (performance.now() < this.#untilMs ? this.#schedule() : this.resume()),
      remainingMs,
    );
  }
}
