/** The share of calls that may be hedged, and how many may be in a row after a calm while. */
export type HedgeLimits = Readonly<{ hedgeRatio: number; hedgeBurst: number }>;

/** Bounds hedges to a share of the calls that might be hedged. */
export class HedgeBudget {
  readonly #limits: HedgeLimits;
  #tokens: number;

  /** @param limits - read at each use: they may change. */
  constructor(limits: HedgeLimits) {
    this.#limits = limits;
    this.#tokens = limits.hedgeBurst;
  }

  /** A call begins that might be hedged. */
  earn(): void {
    this.#tokens = Math.min(this.#limits.hedgeBurst, this.#tokens + this.#limits.hedgeRatio);
  }

  /** @returns whether a hedge may be made. */
  spend(): boolean {
    if (this.#limits.hedgeRatio <= 0 || this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
