import type { BlockReward } from './block-reward.ts';
import type { Blockhash } from './blockhash.ts';
import type { Transaction } from './transaction/transaction.ts';
import type { TransactionMeta } from './transaction/transaction-meta.ts';
import type { Slot } from './units.ts';

/** A transaction of a block and what executing it left behind. */
export type ExecutedTransaction = Readonly<{ transaction: Transaction; meta: TransactionMeta }>;

/** A frozen block. Source: solana-transaction-status, `ConfirmedBlock`. */
export type Block = Readonly<{
  slot: Slot;
  parentSlot: Slot;
  blockhash: Blockhash;
  previousBlockhash: Blockhash;
  /** null where the node did not record it. */
  blockHeight: bigint | null;
  /** Unix seconds; null where the node did not record it. */
  blockTime: bigint | null;
  transactions: readonly ExecutedTransaction[];
  rewards: readonly BlockReward[];
  /** Partitions in which the rewards of the epoch before are paid; only in the first block of an epoch. */
  numRewardPartitions?: bigint | undefined;
}>;
