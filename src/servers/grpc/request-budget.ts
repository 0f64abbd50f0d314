import { Failure } from '../../protocol/errors.ts';

/** Budget of request bytes, for all calls or for one connection. */
export class RequestBudget {
  readonly #maxBytes: number;
  readonly #parent: RequestBudget | null;
  #bytes = 0;

  /** @param parent - also charged. */
  constructor(maxBytes: number, parent: RequestBudget | null = null) {
    this.#maxBytes = maxBytes;
    this.#parent = parent;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The budget of one connection. */
  createChild(maxBytes: number): RequestBudget {
    return new RequestBudget(maxBytes, this);
  }

  /** @throws Failure OVERLOADED */
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
