/**
 * What a node may be asked a second: a bucket that fills steadily. Places may be reserved ahead of time, so that
 * those who wait come one after another. Times are milliseconds on any steady clock.
 */
export class RequestBudget {
  /** Requests a second, lasting. */
  readonly perSecond: number;
  readonly #burst: number;
  #remaining: number;
  #filledAt = 0;

  /** @param burst - how many may come at once. */
  constructor(perSecond: number, burst: number) {
    this.perSecond = perSecond;
    this.#burst = burst;
    this.#remaining = burst;
  }

  /** How many requests may go out now. */
  remaining(now: number): number {
    this.#fill(now);
    return Math.max(0, Math.floor(this.#remaining));
  }

  /** Whether one more may go out now. */
  has(now: number): boolean {
    this.#fill(now);
    return this.#remaining >= 1;
  }

  /** Takes one, or reserves the next that there will be. */
  spend(now: number): void {
    this.#fill(now);
    this.#remaining -= 1;
  }

  /** One that was reserved was not used. */
  refund(): void {
    this.#remaining += 1;
  }

  /** Milliseconds until one that is reserved now may go out. */
  waitMs(now: number): number {
    this.#fill(now);
    return Math.max(0, ((1 - this.#remaining) / this.perSecond) * 1_000);
  }

  #fill(now: number): void {
    const since = now - this.#filledAt;
    if (since <= 0) return;
    this.#remaining = Math.min(this.#burst, this.#remaining + (since / 1_000) * this.perSecond);
    this.#filledAt = now;
  }
}
