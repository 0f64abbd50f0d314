import type { Address } from './address.ts';
import type { Blockhash } from './blockhash.ts';
import type { Transaction } from './transaction/transaction.ts';
import type { TransactionMeta } from './transaction/transaction-meta.ts';
import type { Lamports, Slot } from './units.ts';

/** Source: solana-reward-info, `RewardType`; `DeactivatedStake` since Agave 4.2, `VATDebit` since 4.3. */
export const rewardTypes = ['Fee', 'Rent', 'Staking', 'Voting', 'DeactivatedStake', 'VATDebit'] as const;
export type RewardType = (typeof rewardTypes)[number];

/** Reward of a block or, in old blocks, of a transaction. Source: solana-transaction-status, `Reward`. */
export type BlockReward = Readonly<{
  pubkey: Address;
  /** i64; negative for a debit. */
  lamports: bigint;
  /** Account balance after the block. */
  postBalance: Lamports;
  rewardType: RewardType | null;
  /** Percent kept by the vote account. */
  commission: number | null;
}>;

export type ExecutedTransaction = Readonly<{ transaction: Transaction; meta: TransactionMeta }>;

/** Source: solana-transaction-status, `ConfirmedBlock`. */
export type Block = Readonly<{
  slot: Slot;
  parentSlot: Slot;
  blockhash: Blockhash;
  previousBlockhash: Blockhash;
  /** null when not recorded. */
  blockHeight: bigint | null;
  /** Unix seconds; null when not recorded. */
  blockTime: bigint | null;
  transactions: readonly ExecutedTransaction[];
  rewards: readonly BlockReward[];
  /** Reward partitions of the previous epoch; only in the first block of an epoch. */
  numRewardPartitions?: bigint | undefined;
}>;
