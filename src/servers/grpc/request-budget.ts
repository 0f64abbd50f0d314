import { Failure } from '../../protocol/errors.ts';

/** Bytes of requests that are held, of all calls together, or of those of one connection. */
export class RequestBudget {
  readonly #maxBytes: number;
  readonly #whole: RequestBudget | null;
  #bytes = 0;

  /** @param whole - what is taken is taken from there too. */
  constructor(maxBytes: number, whole: RequestBudget | null = null) {
    this.#maxBytes = maxBytes;
    this.#whole = whole;
  }

  /** Bytes that are taken. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A part of it, such as a connection may take. */
  share(maxBytes: number): RequestBudget {
    return new RequestBudget(maxBytes, this);
  }

  /** @throws Failure OVERLOADED when there is no room for them. */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes) throw new Failure('OVERLOADED');
    this.#whole?.take(bytes);
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
    this.#whole?.give(bytes);
  }
}
