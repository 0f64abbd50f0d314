import { methods } from '../../protocol/methods.ts';
import type { UpstreamNode } from '../node.ts';
import type { Outcome } from '../outcome.ts';
import { attemptOf, type Hearer, handTo } from './hand-over.ts';
import type { PendingSend } from './pending-send.ts';
import type { SubmissionParts } from './submission.ts';

/** Hands a transaction to everybody again, and notes what they say. */
export class Rebroadcast implements Hearer {
  readonly #send: PendingSend;
  readonly #onEnd: () => void;
  #awaited = 0;

  /** @param onEnd - called when the last has ended. */
  constructor(send: PendingSend, onEnd: () => void) {
    this.#send = send;
    this.#onEnd = onEnd;
  }

  /** @returns whether there is anybody now; `onEnd` is called only then, maybe before this returns. */
  begin({ senders, limits }: SubmissionParts): boolean {
    const { network, params } = this.#send;
    const everybody = [...senders.nodes(network), ...senders.sendOnly(network)];
    this.#awaited = everybody.length;
    const call = { network, method: 'sendTransaction', row: methods.sendTransaction, params };
    for (const node of everybody) handTo(node, call, limits.attemptTimeoutMs, this);
    return everybody.length > 0;
  }

  heard(node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
    this.#send.repeated(attemptOf(node, outcome, elapsedMs));
    if (--this.#awaited === 0) this.#onEnd();
  }
}
