/** Budget of bytes queued for all clients. */
export class QueueBudget {
  readonly #maxBytes: number;
  readonly #onOverflow: (bytes: number) => void;
  #bytes = 0;
  #isScheduled = false;

  /** @param onOverflow - called at the end of an event loop turn with the excess bytes. */
  constructor(maxBytes: number, onOverflow: (bytes: number) => void) {
    this.#maxBytes = maxBytes;
    this.#onOverflow = onOverflow;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes || this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const tooMany = this.#bytes - this.#maxBytes;
      if (tooMany > 0) this.#onOverflow(tooMany);
    });
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}
