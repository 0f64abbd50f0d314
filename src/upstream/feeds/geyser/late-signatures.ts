import { parseJson } from '../../../base/json.ts';
import type { Logger } from '../../../base/log.ts';
import type { TransactionError } from '../../../ledger/transaction/transaction-error.ts';
import { type Slot, slot as slotOf } from '../../../ledger/units.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import { resultIn } from '../../../streams/notifier/result-json.ts';
import type { Ask } from './ask.ts';

type Found = Readonly<{ context: Slot; commitment: Commitment; err: TransactionError | null }>;

const ranks: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 1, finalized: 2 };

const isCommitment = (text: unknown): text is Commitment => typeof text === 'string' && text in ranks;

/** What getSignatureStatuses says of one signature. */
function foundIn(body: Buffer): Found | null {
  const { context, value } = parseJson(body.toString('utf8')) as {
    context?: { slot?: number | bigint };
    value?: ({ confirmationStatus?: unknown; err?: unknown } | null)[];
  };
  const status = value?.[0] ?? null;
  if (status === null || context?.slot === undefined || !isCommitment(status.confirmationStatus)) return null;
  return {
    context: slotOf(context.slot),
    commitment: status.confirmationStatus,
    err: (status.err ?? null) as TransactionError | null,
  };
}

/** A node that is a little behind may not know it yet. */
const LOOKS_MAX = 2;

type Waiting = {
  readonly subscription: SubscriptionOf<'signature'>;
  readonly tell: (result: Buffer) => void;
  /** Times it was not found. */
  missed: number;
};

/** Transactions that landed before somebody subscribed to them: no stream tells of them any more. */
export class LateSignatures {
  readonly #ask: Ask;
  readonly #log: Logger;
  readonly #waiting = new Set<Waiting>();

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
    void this.#look(waiting);
    return () => this.#waiting.delete(waiting);
  }

  /** A slot came to a commitment. */
  reached(commitment: Commitment): void {
    for (const waiting of this.#waiting) {
      if (waiting.subscription.commitment === commitment) void this.#look(waiting);
    }
  }

  async #look(waiting: Waiting): Promise<void> {
    const { signature, commitment } = waiting.subscription;
    try {
      const found = foundIn(await this.#ask('getSignatureStatuses', [[signature]]));
      if (!this.#waiting.has(waiting)) return;
      if (found === null) {
        // Then the stream will tell of it.
        if (++waiting.missed === LOOKS_MAX) this.#waiting.delete(waiting);
      } else if (ranks[found.commitment] >= ranks[commitment]) {
        this.#waiting.delete(waiting);
        waiting.tell(resultIn(found.context, { err: found.err }));
      }
    } catch {
      this.#log.warn('the status of a signature could not be asked for');
    }
  }
}
