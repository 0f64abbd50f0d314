/** Lets others wait, all of them together for no longer than so long in every period. One waits at a time. */
export class WaitBudget {
  readonly #waitMs: number;
  readonly #periodMs: number;
  #periodEnd = 0;
  #remainingMs = 0;

  constructor(waitMs: number, periodMs: number) {
    this.#waitMs = waitMs;
    this.#periodMs = periodMs;
  }

  /**
   * @param done - never rejects.
   * @returns kept when that is done, or when there was waiting enough; null when there is no waiting left.
   */
  wait(done: Promise<void>): Promise<void> | null {
    const start = performance.now();
    if (start >= this.#periodEnd) {
      this.#periodEnd = start + this.#periodMs;
      this.#remainingMs = this.#waitMs;
    }
    if (this.#remainingMs <= 0) return null;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#remainingMs -= performance.now() - start;
        resolve();
      };
      const timer = setTimeout(end, this.#remainingMs);
      void done.then(end);
    });
  }
}
