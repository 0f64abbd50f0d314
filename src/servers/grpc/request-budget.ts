import { Failure } from '../../protocol/errors.ts';

/** Bytes of requests that are held, of all calls together, or of those of one connection. */
export class RequestBudget {
  readonly #maxBytes: number;
  readonly #parent: RequestBudget | null;
  #bytes = 0;

  /** @param whole - what is taken is taken from there too. */
  constructor(maxBytes: number, parent: RequestBudget | null = null) {
    this.#maxBytes = maxBytes;
    this.#parent = parent;
  }

  /** Bytes that are taken. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A part of it, such as a connection may take. */
  createChild(maxBytes: number): RequestBudget {
    return new RequestBudget(maxBytes, this);
  }

  /** @throws Failure OVERLOADED when there is no room for them. */
  reserve(bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes) throw new Failure('OVERLOADED');
    this.#parent?.reserve(bytes);
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    this.#parent?.release(bytes);
  }
}
