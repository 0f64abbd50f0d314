import type { Address } from './address.ts';
import type { Lamports } from './units.ts';

/**
 * Why a block paid somebody. Source: solana-reward-info, `RewardType`; `DeactivatedStake` since Agave 4.2,
 * `VATDebit` since 4.3.
 */
export const rewardTypes = ['Fee', 'Rent', 'Staking', 'Voting', 'DeactivatedStake', 'VATDebit'] as const;
export type RewardType = (typeof rewardTypes)[number];

/** What a block, or in old ones a transaction, paid somebody. Source: solana-transaction-status, `Reward`. */
export type BlockReward = Readonly<{
  pubkey: Address;
  /** i64: a debit is negative. */
  lamports: bigint;
  /** Of the account, after the block. */
  postBalance: Lamports;
  rewardType: RewardType | null;
  /** Percent the vote account keeps, for stakes and votes. */
  commission: number | null;
}>;
