export type HeartbeatOptions = Readonly<{
  pingIntervalMs: number;
  pongTimeoutMs: number;
  /** Time a connection may have no subscription, call, message or ping of the client. */
  idleTimeoutMs: number;
}>;

/** Traffic of a connection when its heartbeat is checked. */
export type Pulse = Readonly<{
  /** A subscription is open or a call in flight. */
  isBusy: boolean;
  bytesIn: number;
  bytesOut: number;
  /** Unsent bytes, which may be ahead of a ping. */
  hasBacklog: boolean;
}>;

export type HeartbeatAction = 'ping' | 'UNRESPONSIVE' | 'IDLE' | null;

/** Ping and idle state of one connection. All times are milliseconds of a monotonic clock. */
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

  /** Records a message or ping of the client. */
  recordActivity(nowMs: number): void {
    this.#usedAtMs = nowMs;
  }

  /** @returns the action due; a due ping counts as sent. */
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
