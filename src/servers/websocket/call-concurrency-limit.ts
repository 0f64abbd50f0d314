/** Limit of calls in flight for all connections together. */
export class CallConcurrencyLimit {
  readonly #max: number;
  #inUse = 0;

  constructor(max: number) {
    this.#max = max;
  }

  tryAcquire(): boolean {
    if (this.#inUse >= this.#max) return false;
    this.#inUse += 1;
    return true;
  }

  release(): void {
    this.#inUse -= 1;
  }
}
