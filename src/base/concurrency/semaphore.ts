/** Limits the number of concurrent tasks. Further tasks wait in FIFO order. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param permits - maximum number of concurrent tasks; at least 1. */
  constructor(permits: number) {
    if (!(permits >= 1)) throw new RangeError('a semaphore needs at least one permit');
    this.#free = permits;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      // The permit passes to the next waiter directly, so that a new caller cannot take it.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
