import type { AccountLookup } from '../ledger/parsed/account/parsed-account.ts';
import type { Signature } from '../ledger/signature.ts';
import type { TransactionError } from '../ledger/transaction/transaction-error.ts';
import type { Slot } from '../ledger/units.ts';
import type { Subscription, SubscriptionKind } from '../protocol/subscriptions.ts';
import type { FeedListener } from './feed.ts';
import type { LedgerEvent } from './ledger-event.ts';

/** Where a transaction landed and what came of it. */
export type SignatureStatus = Readonly<{ slot: Slot; err: TransactionError | null }>;

export type LedgerNotifierOptions = Readonly<{
  /** Where `jsonParsed` of an account in a slot finds mints. */
  lookup: (slot: Slot) => AccountLookup;
  /** What became of a transaction that landed before it was subscribed to; null when nothing is known of it. */
  statusOf: (signature: Signature) => SignatureStatus | null;
  /**
   * Whether `processed` accounts, programs, logs, transactions and signatures are told with each event, instead of
   * when their slot becomes `processed`.
   */
  intraSlot: boolean;
  /** Keeps what nobody wants yet, so that a subscription hears of slots that had begun before it. */
  keepUnwanted: boolean;
  /** Slots held between their creation and their root; beyond it the oldest is forgotten. */
  slotsMax: number;
}>;

export const ledgerNotifierDefaults: LedgerNotifierOptions = {
  lookup: () => ({}),
  statusOf: () => null,
  intraSlot: false,
  keepUnwanted: false,
  slotsMax: 512,
};

/**
 * Turns what a ledger tells into the notifications of every kind of subscription, as Agave fires them. Sources:
 * Agave rpc/src/rpc_subscriptions.rs; reference solana-json-rpc.md §3.2 and, for `transaction`, §3.3.
 */
export class LedgerNotifier {
  readonly options: LedgerNotifierOptions;

  constructor(options: Partial<LedgerNotifierOptions> = {}) {
    this.options = { ...ledgerNotifierDefaults, ...options };
  }

  /**
   * Begins a subscription. Equal ones are told apart, each with its listener.
   * @returns what ends it; harmless when it is over.
   */
  add(_subscription: Subscription, _listener: FeedListener): () => void {
    return () => {};
  }

  /** Takes the next event; listeners are called before it returns. */
  tell(_event: LedgerEvent): void {}

  /** Whether anybody subscribed to this kind: what feeds only others need not be told. */
  wants(_kind: SubscriptionKind): boolean {
    return false;
  }
}
