import { writeJson } from '../../../base/json.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import { readSignatureStatuses } from '../signature-statuses.ts';
import { contextValue, withContext } from './context.ts';
import type { Continuity, Gap, NotificationDecision } from './continuity.ts';

const RECEIVED = '"receivedSignature"';

/** `signature`: its status is read again; an outcome is told once, whoever tells it first. */
export class SignatureGap implements Continuity {
  readonly #subscription: SubscriptionOf<'signature'>;
  #isReceiptSent = false;
  #isDone = false;

  constructor(subscription: SubscriptionOf<'signature'>) {
    this.#subscription = subscription;
  }

  decide(result: Buffer): NotificationDecision {
    if (this.#isDone) return 'drop';
    if (contextValue(result).toString('latin1') === RECEIVED) {
      if (this.#isReceiptSent) return 'drop';
      this.#isReceiptSent = true;
      return 'pass';
    }
    this.#isDone = true;
    return 'last';
  }

  async fill(gap: Gap): Promise<void> {
    const { signature, commitment, received } = this.#subscription;
    const params = [[signature], { searchTransactionHistory: true }];
    const body = await gap.reader.request('getSignatureStatuses', params, gap.signal);
    const { slot, statuses } = readSignatureStatuses(body);
    const status = statuses[0] ?? null;
    if (status === null || this.#isDone) return;
    if (received && !this.#isReceiptSent) {
      this.#isReceiptSent = true;
      gap.emit(withContext(slot, RECEIVED));
    }
    if (!status.hasCommitment(commitment)) return;
    // Statuses are of the processed slot; a node tells the slot that came to the commitment.
    const commitmentSlot = commitment === 'processed' ? slot : await gap.reader.slot(commitment);
    this.#isDone = true;
    gap.emit(withContext(commitmentSlot, writeJson({ err: status.err })), true);
  }
}
