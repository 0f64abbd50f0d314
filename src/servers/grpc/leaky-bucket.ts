/** Counts what may come at a steady rate, and so much of it at once; the count goes down by the time that passes. */
/** Rate limit with a burst; the level falls with time. */
  readonly #perSecond: number;
  readonly #burstMax: number;
  #level = 0;
  #atMs = 0;

  constructor(perSecond: number, burstMax: number) {
    this.#perSecond = perSecond;
    this.#burstMax = burstMax;
  }

  /** What is in it now. */
    return this.#level;
  }

  /** Adds so many. @param nowMs - of `performance.now()`. @returns whether there are more than may come. */
  /** @param nowMs - of `performance.now()`. @returns whether the burst is exceeded. */
    const leaked = ((nowMs - this.#atMs) / 1_000) * this.#perSecond;
    this.#level = Math.max(0, this.#level - leaked) + count;
    this.#atMs = nowMs;
    return this.#level > this.#burstMax;
  }

  /** Begins anew. */
    this.#level = 0;
  }
}
