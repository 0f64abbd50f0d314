import type { ServerResponse } from 'node:http';
import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { Failure } from '../../protocol/errors.ts';

/**
 * Memory of the responses to one request, reserved from the shared budget until they are sent.
 */
export class ResponseMemoryReservation {
  readonly #budget: ByteBudget;
  readonly #answersMaxBytes: number;
  #reservedBytes = 0;
  #hasExceeded = false;

  /** @param answersMaxBytes - limit of this request. */
  constructor(budget: ByteBudget, answersMaxBytes: number) {
    this.#budget = budget;
    this.#answersMaxBytes = answersMaxBytes;
  }

  /** The limit of this request was exceeded; further calls are pointless. */
  get isFull(): boolean {
    return this.#hasExceeded;
  }

  /** @returns why the response may not be held, or null. */
  reserve(bytes: number): Failure | null {
    if (this.#reservedBytes + bytes > this.#answersMaxBytes) {
      this.#hasExceeded = true;
      return this.refusal();
    }
    if (!this.#budget.tryReserve(bytes)) return new Failure('OVERLOADED');
    this.#reservedBytes += bytes;
    return null;
  }

  refusal(): Failure {
    return new Failure('BATCH_ANSWER_TOO_LARGE', { facts: { answersMaxBytes: this.#answersMaxBytes } });
  }

  /** Releases the memory when the response closes. */
  releaseAfter(response: ServerResponse): void {
    if (response.destroyed || response.socket?.destroyed === true) this.release();
    else response.once('close', () => this.release());
  }

  release(): void {
    this.#budget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }
}
