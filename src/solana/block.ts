import type { Blockhash } from './blockhash.ts';
import type { Transaction } from './transaction/transaction.ts';
import type { BlockReward, TransactionMeta } from './transaction/transaction-meta.ts';
import type { Slot } from './units.ts';

export type ExecutedTransaction = Readonly<{ transaction: Transaction; meta: TransactionMeta }>;

/** Source: solana-transaction-status, `ConfirmedBlock`. */
export type Block = Readonly<{
  slot: Slot;
  parentSlot: Slot;
  blockhash: Blockhash;
  previousBlockhash: Blockhash;
  blockHeight: bigint | null;
  blockTime: bigint | null;
  transactions: readonly ExecutedTransaction[];
  rewards: readonly BlockReward[];
  /** Number of partitions of the previous epoch's rewards; set only in the first block of an epoch. */
  numRewardPartitions?: bigint | undefined;
}>;
