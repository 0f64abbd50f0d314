export class ByteBudget {
  readonly #maxBytes: () => number;
  #reservedBytes = 0;

  /** @param maxBytes - called for each reservation, since the limit may change. */
  constructor(maxBytes: () => number) {
    this.#maxBytes = maxBytes;
  }

  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  tryReserve(bytes: number): boolean {
    if (this.#reservedBytes + bytes > this.#maxBytes()) return false;
    this.#reservedBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#reservedBytes -= bytes;
  }
}
