/** What may have something to send by the end of a turn. */
export interface Flushable {
  flush(): void;
}

/**
 * Flushes all who asked for it, once in each turn of the event loop: what came for a socket from all that was
 * read in the turn leaves in one write. A microtask would run after each thing that was read, and join less.
 */
export class FlushTurn {
  readonly #leastMs: number;
  #flushedAt = 0;
  #asked: Flushable[] = [];
  /** The list of the turn before, emptied, so that none is made anew. */
  #spare: Flushable[] = [];
  readonly #flush = (): void => {
    if (this.#leastMs > 0) this.#flushedAt = performance.now();
    const asked = this.#asked;
    this.#asked = this.#spare;
    for (const one of asked) one.flush();
    asked.length = 0;
    this.#spare = asked;
  };

  /**
   * @param leastMs - between two flushes: turns that follow each other closely are flushed together, about so much
   * later. 0 flushes every turn.
   */
  constructor(leastMs = 0) {
    this.#leastMs = leastMs;
  }

  /** Asks for a flush in this turn. Who asks twice is flushed twice. */
  ask(one: Flushable): void {
    if (this.#asked.push(one) !== 1) return;
    const restMs = this.#leastMs === 0 ? 0 : this.#flushedAt + this.#leastMs - performance.now();
    if (restMs > 0) setTimeout(this.#flush, restMs);
    else setImmediate(this.#flush);
  }
}
