import { methods } from '../../protocol/methods.ts';
import type { UpstreamNode } from '../node.ts';
import type { Outcome } from '../outcome.ts';
import type { PendingSubmission } from './pending-submission.ts';
import type { SubmissionParts } from './submission.ts';
import { type SubmitListener, submitTransaction, toCallAttempt } from './submit-transaction.ts';

/** Hands a transaction to everybody again, and notes what they say. */
export class Rebroadcast implements SubmitListener {
  readonly #submission: PendingSubmission;
  readonly #onEnd: () => void;
  #outstanding = 0;

  /** @param onEnd - called when the last has ended. */
  constructor(submission: PendingSubmission, onEnd: () => void) {
    this.#submission = submission;
    this.#onEnd = onEnd;
  }

  /** @returns whether there is anybody now; `onEnd` is called only then, maybe before this returns. */
  start({ targets, limits }: SubmissionParts): boolean {
    const { network, params } = this.#submission;
    const nodes = [...targets.nodes(network), ...targets.sendOnly(network)];
    this.#outstanding = nodes.length;
    const call = { network, method: 'sendTransaction', row: methods.sendTransaction, params };
    for (const node of nodes) submitTransaction(node, call, limits.attemptTimeoutMs, this);
    return nodes.length > 0;
  }

  onSubmitOutcome(node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
    this.#submission.recordRebroadcast(toCallAttempt(node, outcome, elapsedMs));
    if (--this.#outstanding === 0) this.#onEnd();
  }
}
