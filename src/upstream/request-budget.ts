/** Token bucket. Tokens can be reserved in advance: the balance may be negative, so that waiting calls queue up. */
export class RequestBudget {
  readonly perSecond: number;
  readonly #burst: number;
  #remaining: number;
  #filledAt = 0;

  constructor(perSecond: number, burst: number) {
    this.perSecond = perSecond;
    this.#burst = burst;
    this.#remaining = burst;
  }

  remaining(now: number): number {
    this.#fill(now);
    return Math.max(0, Math.floor(this.#remaining));
  }

  has(now: number): boolean {
    this.#fill(now);
    return this.#remaining >= 1;
  }

  /** Takes a token or, if there is none, reserves the next token. */
  spend(now: number): void {
    this.#fill(now);
    this.#remaining -= 1;
  }

  refund(): void {
    this.#remaining += 1;
  }

  /** Time until a token reserved now becomes available. */
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
