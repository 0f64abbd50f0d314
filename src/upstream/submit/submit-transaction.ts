import type { Call, CallAttempt } from '../../protocol/call.ts';
import { type AttemptListener, sendAttempt } from '../attempt.ts';
import type { UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';

/** Hears what became of each that was handed a transaction. Must not throw. */
export interface SubmitListener {
  onSubmitOutcome(node: UpstreamNode, outcome: Outcome, elapsedMs: number): void;
}

class SubmitAttempt implements AttemptListener {
  readonly #node: UpstreamNode;
  readonly #listener: SubmitListener;

  constructor(node: UpstreamNode, listener: SubmitListener) {
    this.#node = node;
    this.#listener = listener;
  }

  onOutcome(outcome: Outcome, elapsedMs: number): void {
    this.#node.recordOutcome(outcome, elapsedMs);
    this.#listener.onSubmitOutcome(this.#node, outcome, elapsedMs);
  }
}

/** Hands a transaction to one node, once. It may be heard of before this returns. */
export function submitTransaction(
  node: UpstreamNode,
  call: Call,
  timeoutMs: number,
  listener: SubmitListener,
): void {
  sendAttempt(node, call, timeoutMs, new SubmitAttempt(node, listener));
}

/** Whether the node has the transaction, or knows that it has landed already. */
export const isAccepted = (outcome: Outcome): boolean =>
  outcome.kind === 'answer' &&
  (outcome.response.errorCode === 0 || outcome.preflight === 'already-processed');

/** An attempt that has just ended, for whoever records it. */
export function toCallAttempt(node: UpstreamNode, outcome: Outcome, elapsedMs: number): CallAttempt {
  const endedAt = performance.now();
  return { node: node.name, startedAt: endedAt - elapsedMs, endedAt, outcome: outcomeLabel(outcome) };
}

function outcomeLabel(outcome: Outcome): string {
  if (!isAccepted(outcome)) return outcomeText(outcome);
  return outcome.kind === 'answer' && outcome.response.errorCode === 0 ? 'ok' : 'already processed';
}
