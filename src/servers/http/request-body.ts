import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { Failure } from '../../protocol/errors.ts';

const JSON_TYPE = /^application\/json *(?:;|$)/i;

export const isJsonType = (contentType: string | undefined): boolean =>
  contentType === 'application/json' || (contentType !== undefined && JSON_TYPE.test(contentType));

const EMPTY = Buffer.alloc(0);

/** Initial capacity, unless the announced length is less. */
const INITIAL_CAPACITY_BYTES = 16 * 1024;

/**
 * Request body in one growing buffer whose whole capacity is reserved from the budget, so that small chunks cannot hold
 * unaccounted memory. Capacity doubles as it fills: an announced length alone reserves nothing.
 */
export class GrowingBody {
  readonly #maxBytes: number;
  readonly #budget: ByteBudget;
  #buffer: Buffer = EMPTY;
  #bytes = 0;

  constructor(maxBytes: number, budget: ByteBudget) {
    this.#maxBytes = maxBytes;
    this.#budget = budget;
  }

  /** @throws Failure BODY_TOO_LARGE, OVERLOADED. */
  add(chunk: Buffer, bodyMaxBytes: number): void {
    const needed = this.#bytes + chunk.length;
    if (needed > this.#maxBytes) throw tooLarge(bodyMaxBytes);
    if (this.#bytes === 0 && needed === this.#maxBytes) {
      this.#adopt(chunk);
      return;
    }
    if (needed > this.#buffer.length) this.#grow(needed);
    this.#bytes += chunk.copy(this.#buffer, this.#bytes);
  }

  /** A body that arrives in one chunk is not copied. */
  #adopt(body: Buffer): void {
    if (!this.#budget.tryReserve(body.length)) throw new Failure('OVERLOADED');
    this.#buffer = body;
    this.#bytes = body.length;
  }

  #grow(needed: number): void {
    const target = Math.max(needed, 2 * this.#buffer.length, INITIAL_CAPACITY_BYTES);
    const capacity = Math.min(target, this.#maxBytes);
    if (!this.#budget.tryReserve(capacity - this.#buffer.length)) throw new Failure('OVERLOADED');
    const previous = this.#buffer;
    // Not from the shared pool, which a small slice would keep alive.
    this.#buffer = Buffer.allocUnsafeSlow(capacity);
    previous.copy(this.#buffer, 0, 0, this.#bytes);
  }

  toBuffer(): Buffer {
    return this.#buffer.subarray(0, this.#bytes);
  }

  release(): void {
    this.#budget.release(this.#buffer.length);
  }
}

/**
 * Reads the whole body. Its memory counts against the budget until the response closes.
 * @returns null when the client disconnected first.
 * @throws Failure BODY_TOO_LARGE, as soon as the header or a chunk shows it; OVERLOADED when the budget is exhausted.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  bodyMaxBytes: number,
  budget: ByteBudget,
): Promise<Buffer | null> {
  const announced = Number(request.headers['content-length'] ?? bodyMaxBytes);
  if (announced > bodyMaxBytes) throw tooLarge(bodyMaxBytes);
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const body = new GrowingBody(announced, budget);
    const onChunk = (chunk: Buffer): void => {
      try {
        body.add(chunk, bodyMaxBytes);
      } catch (failure) {
        request.off('data', onChunk);
        request.pause();
        reject(failure);
      }
    };
    request.on('data', onChunk);
    request.on('end', () => resolve(body.toBuffer()));
    // Before a response this means that the client disconnected; afterwards the promise is settled.
    response.on('close', () => {
      body.release();
      resolve(null);
    });
  });
}

const tooLarge = (bodyMaxBytes: number): Failure =>
  new Failure('BODY_TOO_LARGE', { facts: { bodyMaxBytes } });
