export type HeartbeatOptions = Readonly<{
  /** How often a client is pinged. */
  pingIntervalMs: number;
  /** How long a ping may stay unanswered. */
  pongTimeoutMs: number;
  /** How long a connection may stay open without a subscription and without a message or ping of the client. */
  idleTimeoutMs: number;
}>;

/** How a connection is doing when its heartbeat is looked at. */
export type Pulse = Readonly<{
  /** Has a subscription, or a call that is being answered. */
  isBusy: boolean;
  /** Bytes that have come in so far. */
  bytesIn: number;
  /** Bytes that have left so far. */
  bytesOut: number;
  /** Bytes wait to leave: a ping may be stuck behind them. */
  hasBacklog: boolean;
}>;

/** What a look at a heartbeat asks for. */
export type HeartbeatAction = 'ping' | 'UNRESPONSIVE' | 'IDLE' | null;

/** When a client was last heard of. All times are milliseconds of a clock that does not run backwards. */
export class Heartbeat {
  #usedAtMs: number;
  #pingedAtMs: number;
  /** Since when the answer to a ping is overdue if nothing moves; null when none is waited for. */
  #waitingSinceMs: number | null = null;
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(nowMs: number) {
    this.#usedAtMs = nowMs;
    this.#pingedAtMs = nowMs;
  }

  /** A message or a ping of the client came in. */
  recordActivity(nowMs: number): void {
    this.#usedAtMs = nowMs;
  }

  /** Says what is due; a ping that is due is taken as sent. */
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

  /** Whatever came in shows that the client lives; while bytes leave ahead of the ping, there is more time. */
  #updateWait({ bytesIn, bytesOut, hasBacklog }: Pulse, nowMs: number): void {
    if (bytesIn !== this.#bytesIn) this.#waitingSinceMs = null;
    else if (hasBacklog && bytesOut !== this.#bytesOut) this.#waitingSinceMs = nowMs;
    this.#bytesOut = bytesOut;
  }
}
