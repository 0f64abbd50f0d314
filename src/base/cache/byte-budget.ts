/** Bytes that are held at a time, by all who take from it together. */
export class ByteBudget {
  readonly #maxBytes: () => number;
  #reservedBytes = 0;

  /** @param maxBytes - asked at each use: it may change. */
  constructor(maxBytes: () => number) {
    this.#maxBytes = maxBytes;
  }

  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  /** Takes room for so many bytes if there is any. */
  tryReserve(bytes: number): boolean {
    if (this.#reservedBytes + bytes > this.#maxBytes()) return false;
    this.#reservedBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#reservedBytes -= bytes;
  }
}
