/** A moment's worth of wrong signatures may be found out at once. */
const BURST_MS = 250;

/**
 * How many wrong signatures may still be found out now; what is spent comes back evenly. The less is left, the more
 * shreds must have a signature in common for it to be looked at: who forges single shreds uses up what is there for
 * single ones, and leaves the rest to those that many vouch for.
 */
export class InvalidSignatureLimit {
  readonly #perMs: number;
  readonly #max: number;
  readonly #now: () => number;
  #remaining: number;
  #at: number;

  /** @param now - milliseconds that only grow. */
  constructor(perSecond: number, now: () => number) {
    this.#perMs = perSecond / 1_000;
    this.#max = Math.max(1, this.#perMs * BURST_MS);
    this.#now = now;
    this.#remaining = this.#max;
    this.#at = now();
  }

  /** Whether a signature that so many shreds have in common may be looked at, should it be wrong. */
  allows(shreds: number): boolean {
    const reserve = Math.max(1, this.#max / (shreds + 1));
    if (this.#remaining >= reserve) return true;
    const now = this.#now();
    this.#remaining = Math.min(this.#max, this.#remaining + (now - this.#at) * this.#perMs);
    this.#at = now;
    return this.#remaining >= reserve;
  }

  spend(): void {
    this.#remaining--;
  }
}
