import { writeJson } from '../../../base/json.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import { readSignatureStatuses } from '../signature-statuses.ts';
import { contextValue, withContext } from './context.ts';
import type { Continuity, Gap, Verdict } from './continuity.ts';

const RECEIVED = '"receivedSignature"';

/** `signature`: its status is read again; an outcome is told once, whoever tells it first. */
export class SignatureGap implements Continuity {
  readonly #subscription: SubscriptionOf<'signature'>;
  #received = false;
  #over = false;

  constructor(subscription: SubscriptionOf<'signature'>) {
    this.#subscription = subscription;
  }

  judge(result: Buffer): Verdict {
    if (this.#over) return 'drop';
    if (contextValue(result).toString('latin1') === RECEIVED) {
      if (this.#received) return 'drop';
      this.#received = true;
      return 'pass';
    }
    this.#over = true;
    return 'last';
  }

  async fill(gap: Gap): Promise<void> {
    const { signature, commitment, received } = this.#subscription;
    const params = [[signature], { searchTransactionHistory: true }];
    const body = await gap.reader.ask('getSignatureStatuses', params, gap.signal);
    const { slot, statuses } = readSignatureStatuses(body);
    const status = statuses[0] ?? null;
    if (status === null || this.#over) return;
    if (received && !this.#received) {
      this.#received = true;
      gap.tell(withContext(slot, RECEIVED));
    }
    if (!status.reached(commitment)) return;
    // Statuses are of the processed slot; a node tells the slot that came to the commitment.
    const reached = commitment === 'processed' ? slot : await gap.reader.slot(commitment);
    this.#over = true;
    gap.tell(withContext(reached, writeJson({ err: status.err })), true);
  }
}
