/** The share of calls that may be hedged, and how many may be in a row after a calm while. */
export type HedgeLimits = Readonly<{ hedgeShare: number; hedgeBurst: number }>;

/** Bounds hedges to a share of the calls that might be hedged. */
export class HedgeBudget {
  readonly #limits: HedgeLimits;
  #left: number;

  /** @param limits - read at each use: they may change. */
  constructor(limits: HedgeLimits) {
    this.#limits = limits;
    this.#left = limits.hedgeBurst;
  }

  /** A call begins that might be hedged. */
  earn(): void {
    this.#left = Math.min(this.#limits.hedgeBurst, this.#left + this.#limits.hedgeShare);
  }

  /** @returns whether a hedge may be made. */
  spend(): boolean {
    if (this.#limits.hedgeShare <= 0 || this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
