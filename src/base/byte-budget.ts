/** Bytes that are held at a time, by all who take from it together. */
export class ByteBudget {
  readonly #maxBytes: () => number;
  #heldBytes = 0;

  /** @param maxBytes - asked at each use: it may change. */
  constructor(maxBytes: () => number) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Takes room for so many bytes if there is any. */
  take(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.#maxBytes()) return false;
    this.#heldBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}
