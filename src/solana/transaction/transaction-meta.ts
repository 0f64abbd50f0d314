import type { Address } from '../address.ts';
import type { CompiledInstruction, LoadedAddresses } from '../message/message.ts';
import type { Lamports } from '../units.ts';
import type { TransactionError } from './transaction-error.ts';

/** Source: solana-reward-info, `RewardType`; `DeactivatedStake` since Agave 4.2, `VATDebit` since 4.3. */
export const rewardTypes = ['Fee', 'Rent', 'Staking', 'Voting', 'DeactivatedStake', 'VATDebit'] as const;
export type RewardType = (typeof rewardTypes)[number];

/** Reward of a block or, in old blocks, of a transaction. Source: solana-transaction-status, `Reward`. */
export type BlockReward = Readonly<{
  pubkey: Address;
  /** i64; negative for a debit. */
  lamports: bigint;
  postBalance: Lamports;
  rewardType: RewardType | null;
  /** Percent of the reward that goes to the vote account. */
  commission: number | null;
}>;

/** `stackHeight` is 2 for a call made directly by an outer instruction; null in old blocks. */
export type InnerInstruction = CompiledInstruction & Readonly<{ stackHeight: number | null }>;

export type InnerInstructions = Readonly<{ index: number; instructions: readonly InnerInstruction[] }>;

/** `amount` is in base units. Source: solana-transaction-status, `TransactionTokenBalance`. */
export type TokenBalance = Readonly<{
  accountIndex: number;
  mint: Address;
  /** null in old blocks. */
  owner: Address | null;
  programId: Address | null;
  amount: bigint;
  decimals: number;
}>;

export type ReturnData = Readonly<{ programId: Address; data: Uint8Array }>;

/** Unrecorded members are null. Source: solana-transaction-status, `TransactionStatusMeta`. */
export type TransactionMeta = Readonly<{
  err: TransactionError | null;
  fee: Lamports;
  /** In the order of static, loaded writable and loaded readonly keys. */
  preBalances: readonly Lamports[];
  postBalances: readonly Lamports[];
  innerInstructions: readonly InnerInstructions[] | null;
  logMessages: readonly string[] | null;
  preTokenBalances: readonly TokenBalance[] | null;
  postTokenBalances: readonly TokenBalance[] | null;
  /** Empty in current blocks, because rent is no longer collected. */
  rewards: readonly BlockReward[] | null;
  loadedAddresses: LoadedAddresses;
  returnData: ReturnData | null;
  computeUnitsConsumed: bigint | null;
  costUnits: bigint | null;
}>;
