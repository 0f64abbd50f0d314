import type { Call } from '../../protocol/call.ts';
import type { LongAnswer } from '../../protocol/long-answer.ts';
import { type Attempter, putTo } from '../attempt.ts';
import type { Posted } from '../exchange.ts';
import type { UpstreamNode } from '../node.ts';
import type { Outcome } from '../outcome.ts';

/** Whose call is put to a second node. */
export interface HedgeOwner {
  readonly takesLong: boolean;
  /** How the attempt ended; `hedgedLong` in its place when it has come to a long result. */
  hedged(outcome: Outcome, elapsedMs: number): void;
  hedgedLong(answer: LongAnswer, elapsedMs: number): void;
}

/** The attempt at a second node, beside the one at the first. */
export class HedgeAttempt implements Attempter {
  readonly #owner: HedgeOwner;
  #posted: Posted | null = null;
  #hasEnded = false;

  constructor(owner: HedgeOwner) {
    this.#owner = owner;
  }

  put(call: Call, node: UpstreamNode, timeoutMs: number, now: number): void {
    const posted = putTo(node, call, timeoutMs, this, now);
    if (!this.#hasEnded) this.#posted = posted;
  }

  attempted(outcome: Outcome, elapsedMs: number): void {
    this.#hasEnded = true;
    this.#owner.hedged(outcome, elapsedMs);
  }

  get takesLong(): boolean {
    return this.#owner.takesLong;
  }

  attemptedLong(answer: LongAnswer, elapsedMs: number): void {
    this.#hasEnded = true;
    this.#owner.hedgedLong(answer, elapsedMs);
  }

  abort(): void {
    this.#posted?.abort();
  }

  expire(): void {
    this.#posted?.expire();
  }
}
