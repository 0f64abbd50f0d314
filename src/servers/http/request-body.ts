import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { Failure } from '../../protocol/errors.ts';

const JSON_TYPE = /^application\/json *(?:;|$)/i;

/** Whether the body says it is JSON, with whatever parameters. */
export const isJsonType = (contentType: string | undefined): boolean =>
  contentType === 'application/json' || (contentType !== undefined && JSON_TYPE.test(contentType));

const EMPTY = Buffer.alloc(0);

/** The first room a body gets, unless it says that it is shorter. */
const INITIAL_CAPACITY_BYTES = 16 * 1024;

/**
 * A body as it grows: one buffer, whose whole capacity is taken from the budget, so that what is held is what is
 * counted, in however small pieces it comes. Room doubles as it fills, so that a length that is only announced
 * takes nothing from others.
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

  /** A body that comes in one piece, as nearly all do, is not copied. */
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
    // Not out of the pool of small buffers: a piece of it would keep the whole of it.
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
 * The whole body of a request. The room it takes counts against the budget until the response is closed.
 * @returns null when the client went away before it was whole.
 * @throws Failure BODY_TOO_LARGE as soon as that is known: from the header alone, or at the first chunk beyond;
 * OVERLOADED when the budget is spent.
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
    // After an answer this says nothing new; before one, that the client went away.
    response.on('close', () => {
      body.release();
      resolve(null);
    });
  });
}

const tooLarge = (bodyMaxBytes: number): Failure =>
  new Failure('BODY_TOO_LARGE', { facts: { bodyMaxBytes } });
