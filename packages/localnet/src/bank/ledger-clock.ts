/**
 * Time of the ledger in Unix milliseconds: the system clock, shifted by time travel, or a fixed time while paused. It
 * never goes back.
 */
export class LedgerClock {
  readonly #system: () => number;
  #offsetMs: number;
  #pausedAt: number | null = null;

  /**
   * @param system - Unix milliseconds.
   * @param reachedMs - time of the newest block: a ledger that was ahead of the system clock continues from there.
   */
  constructor(system: () => number, reachedMs: number) {
    this.#system = system;
    this.#offsetMs = Math.max(0, reachedMs - system());
  }

  get isPaused(): boolean {
    return this.#pausedAt !== null;
  }

  now(): number {
    return this.#pausedAt ?? this.#system() + this.#offsetMs;
  }

  pause(): void {
    this.#pausedAt ??= this.now();
  }

  /** Continues from the time of the pause. */
  resume(): void {
    if (this.#pausedAt === null) return;
    this.#offsetMs = this.#pausedAt - this.#system();
    this.#pausedAt = null;
  }

  advance(ms: number): void {
    if (this.#pausedAt !== null) this.#pausedAt += ms;
    else this.#offsetMs += ms;
  }
}
