import type { ServerResponse } from 'node:http';
import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { Failure } from '../../protocol/errors.ts';

/**
 * What the answers to one request hold of the memory that all answers share, from when a node has given them until their
 * caller has taken them.
 */
export class ResponseMemoryReservation {
  readonly #budget: ByteBudget;
  readonly #answersMaxBytes: number;
  #reservedBytes = 0;
  #hasExceeded = false;

  /** @param answersMaxBytes - what the answers to this request may hold together. */
  constructor(budget: ByteBudget, answersMaxBytes: number) {
    this.#budget = budget;
    this.#answersMaxBytes = answersMaxBytes;
  }

  /** Whether the answers to this request were too much for one: asking for more of them is for nothing. */
  get isFull(): boolean {
    return this.#hasExceeded;
  }

  /** Takes room for an answer. @returns why there is none; null: it may be held. */
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

  /** Gives it back when a response of node:http is over. */
  releaseAfter(response: ServerResponse): void {
    if (response.destroyed || response.socket?.destroyed === true) this.release();
    else response.once('close', () => this.release());
  }

  /** The answers have left, or nobody waits for them any more. */
  release(): void {
    this.#budget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }
}
