import { methods } from '../../protocol/methods.ts';
import { type Hearer, handTo } from './hand-over.ts';
import type { PendingSend } from './pending-send.ts';
import type { SubmissionParts } from './submission.ts';

/** Hands a transaction to everybody again, and hears only that they have ended. */
export class Rebroadcast implements Hearer {
  readonly #onEnd: () => void;
  #awaited = 0;

  /** @param onEnd - called when the last has ended. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** @returns whether there is anybody now; `onEnd` is called only then, maybe before this returns. */
  begin({ network, params }: PendingSend, { senders, limits }: SubmissionParts): boolean {
    const everybody = [...senders.nodes(network), ...senders.sendOnly(network)];
    this.#awaited = everybody.length;
    const call = { network, method: 'sendTransaction', row: methods.sendTransaction, params };
    for (const node of everybody) handTo(node, call, limits.attemptTimeoutMs, this);
    return everybody.length > 0;
  }

  heard(): void {
    if (--this.#awaited === 0) this.#onEnd();
  }
}
