/** Bytes that wait for all clients together. */
export class QueueBudget {
  readonly #maxBytes: number;
  readonly #makeRoom: (bytes: number) => void;
  #bytes = 0;
  #isAsked = false;

  /** @param makeRoom - called at the end of a turn in which there was too much, with the bytes that have to go. */
  constructor(maxBytes: number, makeRoom: (bytes: number) => void) {
    this.#maxBytes = maxBytes;
    this.#makeRoom = makeRoom;
  }

  get bytes(): number {
    return this.#bytes;
  }

  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes || this.#isAsked) return;
    this.#isAsked = true;
    setImmediate(() => {
      this.#isAsked = false;
      const tooMany = this.#bytes - this.#maxBytes;
      if (tooMany > 0) this.#makeRoom(tooMany);
    });
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}
