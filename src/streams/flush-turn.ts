/** What may have something to send by the end of a turn. */
export interface Flushable {
  flush(): void;
}

/**
 * Flushes all who asked for it, once in each turn of the event loop: what came for a socket from all that was
 * read in the turn leaves in one write. A microtask would run after each thing that was read, and join less.
 */
export class FlushTurn {
  #asked: Flushable[] = [];
  /** The list of the turn before, emptied, so that none is made anew. */
  #spare: Flushable[] = [];
  readonly #flush = (): void => {
    const asked = this.#asked;
    this.#asked = this.#spare;
    for (const one of asked) one.flush();
    asked.length = 0;
    this.#spare = asked;
  };

  /** Asks for a flush in this turn. Who asks twice is flushed twice. */
  ask(one: Flushable): void {
    if (this.#asked.push(one) === 1) setImmediate(this.#flush);
  }
}
