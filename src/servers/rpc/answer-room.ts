import type { ServerResponse } from 'node:http';
import type { ByteBudget } from '../../base/byte-budget.ts';
import { Failure } from '../../protocol/errors.ts';

/**
 * What the answers to one request hold of the memory that all answers share, from when a node has given them until their
 * caller has taken them.
 */
export class AnswerRoom {
  readonly #budget: ByteBudget;
  readonly #answersMaxBytes: number;
  #heldBytes = 0;
  #isRefused = false;

  /** @param answersMaxBytes - what the answers to this request may hold together. */
  constructor(budget: ByteBudget, answersMaxBytes: number) {
    this.#budget = budget;
    this.#answersMaxBytes = answersMaxBytes;
  }

  /** Whether the answers to this request were too much for one: asking for more of them is for nothing. */
  get isFull(): boolean {
    return this.#isRefused;
  }

  /** Takes room for an answer. @returns why there is none; null: it may be held. */
  take(bytes: number): Failure | null {
    if (this.#heldBytes + bytes > this.#answersMaxBytes) {
      this.#isRefused = true;
      return this.refusal();
    }
    if (!this.#budget.take(bytes)) return new Failure('OVERLOADED');
    this.#heldBytes += bytes;
    return null;
  }

  refusal(): Failure {
    return new Failure('BATCH_ANSWER_TOO_LARGE', { facts: { answersMaxBytes: this.#answersMaxBytes } });
  }

  /** Gives it back when a response of node:http is over. */
  giveBackAfter(response: ServerResponse): void {
    if (response.destroyed || response.socket?.destroyed === true) this.giveBack();
    else response.once('close', () => this.giveBack());
  }

  /** The answers have left, or nobody waits for them any more. */
  giveBack(): void {
    this.#budget.giveBack(this.#heldBytes);
    this.#heldBytes = 0;
  }
}
