import type { Commitment } from '../../protocol/commitment.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Slot } from '../../solana/units.ts';

/** Which transactions a feed told, for whoever goes on behind it. Stays as it is when the feed tells more. */
export interface EmittedTransactions {
  /** The newest slot of which anything was told; null for none. */
  readonly newest: Slot | null;
  /** All that is in slots up to this one was told at the commitment, or is older than the feed; null for nothing. */
  upTo(commitment: Commitment): Slot | null;
  /** Whether a transaction of a block was told at the commitment. */
  has(commitment: Commitment, slot: Slot, signature: Signature): boolean;
}
