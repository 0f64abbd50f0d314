import { parseJson } from '../../../base/json.ts';
import type { Logger } from '../../../base/log.ts';
import { u64Of } from '../../../ledger/encoding/read-json.ts';
import { type Slot, slot as slotOf } from '../../../ledger/units.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import { resultIn } from '../../../streams/notifier/result-json.ts';
import { type LandedStatus, readSignatureStatuses } from '../signature-statuses.ts';
import type { Ask } from './ask.ts';

/** Signatures that a node takes in one question. Source: Agave, `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`. */
const SIGNATURES_MAX = 256;
/** A node that is a little behind may not know it yet. */
const LOOKS_MAX = 2;

type Waiting = {
  readonly subscription: SubscriptionOf<'signature'>;
  readonly tell: (result: Buffer) => void;
  /** Times it was not found. */
  missed: number;
};

/**
 * Transactions that landed before somebody subscribed to them: no stream tells of them any more. One question is
 * asked at a time, for all that are due.
 */
export class LateSignatures {
  readonly #ask: Ask;
  readonly #log: Logger;
  readonly #waiting = new Set<Waiting>();
  /** To be looked for again. */
  readonly #due = new Set<Waiting>();
  #isLooking = false;

  constructor(ask: Ask, log: Logger) {
    this.#ask = ask;
    this.#log = log;
  }

  /**
   * Looks for a transaction that landed already, and again at each commitment until it came to its own.
   * @param tell - called at most once, with the result of the only notification.
   * @returns what ends it.
   */
  watch(subscription: SubscriptionOf<'signature'>, tell: (result: Buffer) => void): () => void {
    const waiting: Waiting = { subscription, tell, missed: 0 };
    this.#waiting.add(waiting);
    this.#due.add(waiting);
    void this.#look();
    return () => this.#end(waiting);
  }

  /** A slot came to a commitment. */
  reached(commitment: Commitment): void {
    for (const waiting of this.#waiting) {
      if (waiting.subscription.commitment === commitment) this.#due.add(waiting);
    }
    void this.#look();
  }

  #end(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    this.#due.delete(waiting);
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#due.size === 0) return;
    this.#isLooking = true;
    // Whoever comes in the same turn is asked for together.
    await new Promise(setImmediate);
    while (this.#due.size > 0) await this.#lookFor([...this.#due].slice(0, SIGNATURES_MAX));
    this.#isLooking = false;
  }

  async #lookFor(asked: readonly Waiting[]): Promise<void> {
    for (const waiting of asked) this.#due.delete(waiting);
    const signatures = asked.map(({ subscription }) => subscription.signature);
    try {
      const { slot, statuses } = readSignatureStatuses(await this.#ask('getSignatureStatuses', [signatures]));
      const landed = new Map<Waiting, LandedStatus>();
      for (const [at, waiting] of asked.entries()) {
        const status = statuses[at] ?? null;
        // Then the stream will tell of it.
        if (status === null && ++waiting.missed === LOOKS_MAX) this.#end(waiting);
        if (status?.reached(waiting.subscription.commitment)) landed.set(waiting, status);
      }
      await this.#tell(landed, slot);
    } catch {
      this.#log.warn('the status of signatures could not be asked for');
    }
  }

  /** @param processed - the slot at which statuses were looked at; a node tells the one that came to the commitment. */
  async #tell(landed: ReadonlyMap<Waiting, LandedStatus>, processed: Slot): Promise<void> {
    const slots = new Map<Commitment, Slot>([['processed', processed]]);
    for (const [waiting, { err }] of landed) {
      const { commitment } = waiting.subscription;
      const at = slots.get(commitment) ?? (await this.#slotAt(commitment));
      slots.set(commitment, at);
      if (!this.#waiting.has(waiting)) continue;
      this.#end(waiting);
      waiting.tell(resultIn(at, { err }));
    }
  }

  async #slotAt(commitment: Commitment): Promise<Slot> {
    const body = await this.#ask('getSlot', [{ commitment }]);
    return slotOf(u64Of(parseJson(body.toString('utf8')), 'a slot'));
  }
}
