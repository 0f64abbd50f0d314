import { Failure } from '../../protocol/errors.ts';

/** Bytes of request messages that have begun and are not whole, of all calls together. */
export class RequestBudget {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws Failure OVERLOADED when there is no room for them. */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes) throw new Failure('OVERLOADED');
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}
