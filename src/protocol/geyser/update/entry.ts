import type { Blockhash } from '../../../solana/blockhash.ts';
import type { Slot } from '../../../solana/units.ts';

/** Source: geyser.proto, `SubscribeUpdateEntry`. */
export type EntryUpdate = Readonly<{
  kind: 'entry';
  slot: Slot;
  index: number;
  numHashes: bigint;
  hash: Blockhash;
  executedTransactionCount: number;
  /** Index of the entry's first transaction in the block. */
  startingTransactionIndex: number;
}>;
