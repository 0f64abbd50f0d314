/** How many hedges may be made in a row after a calm while. */
const BURST = 10;

/** Bounds hedges to a share of the calls that might be hedged. */
export class HedgeBudget {
  readonly #share: number;
  #left: number;

  constructor(share: number) {
    this.#share = share;
    this.#left = share > 0 ? BURST : 0;
  }

  /** A call begins that might be hedged. */
  earn(): void {
    this.#left = Math.min(BURST, this.#left + this.#share);
  }

  /** @returns whether a hedge may be made. */
  spend(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
