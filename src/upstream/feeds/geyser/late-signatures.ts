import { parseJson } from '../../../base/json.ts';
import type { Logger } from '../../../base/log.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import { u64Of } from '../../../solana/encoding/read-json.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { resultIn } from '../../../streams/notifier/account-notification.ts';
import type { RequestFn } from '../chain-reader.ts';
import { type LandedStatus, readSignatureStatuses } from '../signature-statuses.ts';

/** Source: Agave, `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`. */
const SIGNATURES_MAX = 256;
/** A node that has reached the slot of the stream may still be on another fork at the first check. */
const ATTEMPTS_MAX = 2;

type PendingSignature = {
  readonly subscription: SubscriptionOf<'signature'>;
  readonly emit: (result: Buffer) => void;
  /** Newest slot of the stream when the subscription was opened; null before the first one. */
  openedAt: Slot | null;
  /** How often a node that has reached `openedAt` did not know the signature. */
  missed: number;
};

/** Finds transactions that landed before the subscription was opened: no stream reports them. */
export class LateSignatures {
  readonly #request: RequestFn;
  readonly #log: Logger;
  readonly #newest: () => Slot | null;
  readonly #pending = new Set<PendingSignature>();
  readonly #due = new Set<PendingSignature>();
  #isChecking = false;

  /** @param newest - newest slot of the stream, complete or not. */
  constructor(request: RequestFn, log: Logger, newest: () => Slot | null) {
    this.#request = request;
    this.#log = log;
    this.#newest = newest;
  }

  /** Checks now and whenever a slot reaches the commitment. Stops if the transaction reaches it or stays unknown. */
  watch(subscription: SubscriptionOf<'signature'>, emit: (result: Buffer) => void): () => void {
    const pending: PendingSignature = { subscription, emit, openedAt: this.#newest(), missed: 0 };
    this.#pending.add(pending);
    this.#due.add(pending);
    void this.#checkDue();
    return () => this.#end(pending);
  }

  onCommitment(commitment: Commitment): void {
    for (const pending of this.#pending) {
      if (pending.subscription.commitment === commitment) this.#due.add(pending);
    }
    void this.#checkDue();
  }

  #end(pending: PendingSignature): void {
    this.#pending.delete(pending);
    this.#due.delete(pending);
  }

  async #checkDue(): Promise<void> {
    if (this.#isChecking || this.#due.size === 0) return;
    this.#isChecking = true;
    // Batches subscriptions from the same turn of the event loop.
    await new Promise(setImmediate);
    while (this.#due.size > 0) await this.#check([...this.#due].slice(0, SIGNATURES_MAX));
    this.#isChecking = false;
  }

  async #check(batch: readonly PendingSignature[]): Promise<void> {
    for (const pending of batch) {
      this.#due.delete(pending);
      pending.openedAt ??= this.#newest();
    }
    const signatures = batch.map(({ subscription }) => subscription.signature);
    try {
      const { slot, statuses } = readSignatureStatuses(
        await this.#request('getSignatureStatuses', [signatures]),
      );
      const landed = new Map<PendingSignature, LandedStatus>();
      for (const [at, pending] of batch.entries()) {
        const status = statuses[at] ?? null;
        // A transaction that such a node does not know has not landed yet, so the stream will report it.
        const isReached = pending.openedAt !== null && slot >= pending.openedAt;
        if (status === null && isReached && ++pending.missed === ATTEMPTS_MAX) this.#end(pending);
        if (status?.hasCommitment(pending.subscription.commitment)) landed.set(pending, status);
      }
      const slots = new Map<Commitment, Slot>([['processed', slot]]);
      for (const [pending, { err }] of landed) {
        const { commitment } = pending.subscription;
        const at = slots.get(commitment) ?? (await this.#slotAt(commitment));
        slots.set(commitment, at);
        if (!this.#pending.has(pending)) continue;
        this.#end(pending);
        pending.emit(resultIn(at, { err }));
      }
    } catch {
      this.#log.warn('Failed to read signature statuses');
    }
  }

  async #slotAt(commitment: Commitment): Promise<Slot> {
    const body = await this.#request('getSlot', [{ commitment }]);
    return slotOf(u64Of(parseJson(body.toString('utf8')), 'slot'));
  }
}
