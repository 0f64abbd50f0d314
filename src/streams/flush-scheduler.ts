/** What may have something to send by the end of a turn. */
export interface Flushable {
  flush(): void;
}

/**
 * Flushes all who asked for it, once in each turn of the event loop: what came for a socket from all that was
 * read in the turn leaves in one write. A microtask would run after each thing that was read, and join less.
 */
export class FlushScheduler {
  readonly #minIntervalMs: number;
  #flushedAt = 0;
  #scheduled: Flushable[] = [];
  /** The list of the turn before, emptied, so that none is made anew. */
  #reusable: Flushable[] = [];
  readonly #flush = (): void => {
    if (this.#minIntervalMs > 0) this.#flushedAt = performance.now();
    const scheduled = this.#scheduled;
    this.#scheduled = this.#reusable;
    for (const one of scheduled) one.flush();
    scheduled.length = 0;
    this.#reusable = scheduled;
  };

  /**
   * @param leastMs - between two flushes: turns that follow each other closely are flushed together, about so much
   * later. 0 flushes every turn.
   */
  constructor(minIntervalMs = 0) {
    this.#minIntervalMs = minIntervalMs;
  }

  /** Asks for a flush in this turn. Who asks twice is flushed twice. */
  schedule(one: Flushable): void {
    if (this.#scheduled.push(one) !== 1) return;
    const remainingMs =
      this.#minIntervalMs === 0 ? 0 : this.#flushedAt + this.#minIntervalMs - performance.now();
    if (remainingMs > 0) setTimeout(this.#flush, remainingMs);
    else setImmediate(this.#flush);
  }
}
