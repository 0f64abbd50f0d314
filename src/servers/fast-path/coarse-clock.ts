/** A clock that goes on in steps, so that to look at it costs nothing. */
export class CoarseClock {
  readonly tickMs: number;
  /** Steps so far. */
  tick = 0;

  constructor(tickMs: number) {
    this.tickMs = tickMs;
  }

  /** The tick at which at least so much time has passed, and hardly more. */
  dueIn(ms: number): number {
    return this.tick + Math.ceil(ms / this.tickMs) + 1;
  }
}
