import { parseJson } from '../../../base/json.ts';
import type { Logger } from '../../../base/log.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import { u64Of } from '../../../solana/encoding/read-json.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { resultIn } from '../../../streams/notifier/result-json.ts';
import type { RequestFn } from '../chain-reader.ts';
import { type LandedStatus, readSignatureStatuses } from '../signature-statuses.ts';

/** Signatures that a node takes in one question. Source: Agave, `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`. */
const SIGNATURES_MAX = 256;
/** A node that is a little behind may not know it yet. */
const ATTEMPTS_MAX = 2;

type PendingSignature = {
  readonly subscription: SubscriptionOf<'signature'>;
  readonly emit: (result: Buffer) => void;
  /** Times it was not found. */
  missed: number;
};

/**
 * Transactions that landed before somebody subscribed to them: no stream tells of them any more. One question is
 * asked at a time, for all that are due.
 */
export class LateSignatures {
  readonly #request: RequestFn;
  readonly #log: Logger;
  readonly #pending = new Set<PendingSignature>();
  /** To be looked for again. */
  readonly #due = new Set<PendingSignature>();
  #isChecking = false;

  constructor(request: RequestFn, log: Logger) {
    this.#request = request;
    this.#log = log;
  }

  /**
   * Looks for a transaction that landed already, and again at each commitment until it came to its own.
   * @param tell - called at most once, with the result of the only notification.
   * @returns what ends it.
   */
  watch(subscription: SubscriptionOf<'signature'>, emit: (result: Buffer) => void): () => void {
    const pending: PendingSignature = { subscription, emit, missed: 0 };
    this.#pending.add(pending);
    this.#due.add(pending);
    void this.#checkDue();
    return () => this.#end(pending);
  }

  /** A slot came to a commitment. */
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
    // Whoever comes in the same turn is asked for together.
    await new Promise(setImmediate);
    while (this.#due.size > 0) await this.#check([...this.#due].slice(0, SIGNATURES_MAX));
    this.#isChecking = false;
  }

  async #check(batch: readonly PendingSignature[]): Promise<void> {
    for (const pending of batch) this.#due.delete(pending);
    const signatures = batch.map(({ subscription }) => subscription.signature);
    try {
      const { slot, statuses } = readSignatureStatuses(
        await this.#request('getSignatureStatuses', [signatures]),
      );
      const landed = new Map<PendingSignature, LandedStatus>();
      for (const [at, pending] of batch.entries()) {
        const status = statuses[at] ?? null;
        // Then the stream will tell of it.
        if (status === null && ++pending.missed === ATTEMPTS_MAX) this.#end(pending);
        if (status?.hasCommitment(pending.subscription.commitment)) landed.set(pending, status);
      }
      await this.#emitLanded(landed, slot);
    } catch {
      this.#log.warn('the status of signatures could not be asked for');
    }
  }

  /** @param processed - the slot at which statuses were looked at; a node tells the one that came to the commitment. */
  async #emitLanded(landed: ReadonlyMap<PendingSignature, LandedStatus>, processed: Slot): Promise<void> {
    const slots = new Map<Commitment, Slot>([['processed', processed]]);
    for (const [pending, { err }] of landed) {
      const { commitment } = pending.subscription;
      const at = slots.get(commitment) ?? (await this.#slotAt(commitment));
      slots.set(commitment, at);
      if (!this.#pending.has(pending)) continue;
      this.#end(pending);
      pending.emit(resultIn(at, { err }));
    }
  }

  async #slotAt(commitment: Commitment): Promise<Slot> {
    const body = await this.#request('getSlot', [{ commitment }]);
    return slotOf(u64Of(parseJson(body.toString('utf8')), 'a slot'));
  }
}
