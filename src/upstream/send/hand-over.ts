import type { Call, CallAttempt } from '../../protocol/call.ts';
import { type Attempter, putTo } from '../attempt.ts';
import type { UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';

/** Hears what became of each that was handed a transaction. Must not throw. */
export interface Hearer {
  heard(node: UpstreamNode, outcome: Outcome, elapsedMs: number): void;
}

class Handing implements Attempter {
  readonly #node: UpstreamNode;
  readonly #hearer: Hearer;

  constructor(node: UpstreamNode, hearer: Hearer) {
    this.#node = node;
    this.#hearer = hearer;
  }

  attempted(outcome: Outcome, elapsedMs: number): void {
    this.#node.learn(outcome, elapsedMs);
    this.#hearer.heard(this.#node, outcome, elapsedMs);
  }
}

/** Hands a transaction to one node, once. It may be heard of before this returns. */
export function handTo(node: UpstreamNode, call: Call, timeoutMs: number, hearer: Hearer): void {
  putTo(node, call, timeoutMs, new Handing(node, hearer));
}

/** Whether the node has the transaction, or knows that it has landed already. */
export const isTaken = (outcome: Outcome): boolean =>
  outcome.kind === 'answer' && (outcome.answer.errorCode === 0 || outcome.preflight === 'already-processed');

/** An attempt that has just ended, for whoever records it. */
export function attemptOf(node: UpstreamNode, outcome: Outcome, elapsedMs: number): CallAttempt {
  const endedAt = performance.now();
  return { node: node.name, startedAt: endedAt - elapsedMs, endedAt, outcome: wordsOf(outcome) };
}

function wordsOf(outcome: Outcome): string {
  if (!isTaken(outcome)) return outcomeText(outcome);
  return outcome.kind === 'answer' && outcome.answer.errorCode === 0 ? 'ok' : 'already processed';
}
