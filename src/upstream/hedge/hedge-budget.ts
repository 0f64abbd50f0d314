/** How many hedges may be made in a row after a calm while. */
const BURST = 10;

/** Bounds hedges to a share of the calls that might be hedged. */
export class HedgeBudget {
  readonly #limits: Readonly<{ hedgeShare: number }>;
  #left = BURST;

  constructor(limits: Readonly<{ hedgeShare: number }>) {
    this.#limits = limits;
  }

  /** A call begins that might be hedged. */
  earn(): void {
    this.#left = Math.min(BURST, this.#left + this.#limits.hedgeShare);
  }

  /** @returns whether a hedge may be made. */
  spend(): boolean {
    if (this.#limits.hedgeShare <= 0 || this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
