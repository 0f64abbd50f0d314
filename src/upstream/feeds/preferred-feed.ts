import type { Commitment } from '../../protocol/commitment.ts';
import type { SubscriptionKind } from '../../protocol/subscriptions.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Slot } from '../../solana/units.ts';
import type { Feed } from '../../streams/feed.ts';
import type { SlotInfo } from './pubsub-message.ts';

/** A feed that takes precedence over PubSub for the kinds it serves. */
export interface PreferredFeed extends Feed {
  serves(kind: SubscriptionKind): boolean;
  close(): void;
  /** The newest completed slot; null if there is none. Remains available while subscriptions fail. */
  position(): SlotInfo | null;
  emittedUpTo(commitment: Commitment): Slot | null;
  /** Snapshot of the emitted transactions. Remains available while a subscription fails. */
  emittedTransactions(): EmittedTransactions;
}

/** Shows which transactions a feed has emitted, so that another feed can continue without gaps or duplicates. */
export interface EmittedTransactions {
  readonly newest: Slot | null;
  /** Every slot up to the returned slot either was emitted completely at `commitment` or precedes the feed. */
  upTo(commitment: Commitment): Slot | null;
  has(commitment: Commitment, slot: Slot, signature: Signature): boolean;
}
