import type { Address } from './address.ts';
import type { Blockhash } from './blockhash.ts';
import type { Transaction } from './transaction/transaction.ts';
import type { TransactionMeta } from './transaction/transaction-meta.ts';
import type { Lamports, Slot } from './units.ts';

/** A transaction of a block and what executing it left behind. */
export type ExecutedTransaction = Readonly<{ transaction: Transaction; meta: TransactionMeta }>;

/** Why a block paid somebody. Source: solana-reward-info, `RewardType`; `VATDebit` since Agave 4.3. */
export const rewardTypes = ['Fee', 'Rent', 'Staking', 'Voting', 'VATDebit'] as const;
export type RewardType = (typeof rewardTypes)[number];

/** What a block paid beside its transactions. Source: solana-transaction-status, `Reward`. */
export type BlockReward = Readonly<{
  pubkey: Address;
  /** i64: a debit is negative. */
  lamports: bigint;
  /** Of the account, after the block. */
  postBalance: Lamports;
  rewardType: RewardType | null;
  /** Percent the vote account keeps, for `Staking` and `Voting`. */
  commission: number | null;
}>;

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
