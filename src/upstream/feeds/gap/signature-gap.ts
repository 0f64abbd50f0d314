import { type JsonValue, parseJson, writeJson } from '../../../base/json.ts';
import { listOf, objectOf, u64Of } from '../../../ledger/encoding/read-json.ts';
import { slot as slotOf } from '../../../ledger/units.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import { contextValue, withContext } from './context.ts';
import type { Continuity, Gap, Verdict } from './continuity.ts';

const RECEIVED = '"receivedSignature"';
const ranks: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];

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
    const { context, value } = objectOf(parseJson(body.toString('utf8')), 'an answer');
    const status = listOf(value, 'statuses')[0] ?? null;
    if (status === null || this.#over) return;
    const slot = slotOf(u64Of(objectOf(context, 'a context').slot, 'a slot'));
    if (received && !this.#received) {
      this.#received = true;
      gap.tell(withContext(slot, RECEIVED));
    }
    const { confirmationStatus, err } = objectOf(status, 'a status');
    if (!reaches(confirmationStatus, commitment)) return;
    this.#over = true;
    gap.tell(withContext(slot, writeJson({ err: err ?? null })), true);
  }
}

const reaches = (status: JsonValue | undefined, commitment: Commitment): boolean =>
  ranks.indexOf(status as Commitment) >= ranks.indexOf(commitment);
