import type { Address } from '../address.ts';
import type { BlockReward } from '../block-reward.ts';
import type { CompiledInstruction, LoadedAddresses } from '../message/message.ts';
import type { Lamports } from '../units.ts';
import type { TransactionError } from './transaction-error.ts';

/** `stackHeight`: 2 for one that a top-level instruction called; null in blocks from before it was recorded. */
export type InnerInstruction = CompiledInstruction & Readonly<{ stackHeight: number | null }>;

/** The inner instructions that one top-level instruction made. */
export type InnerInstructions = Readonly<{ index: number; instructions: readonly InnerInstruction[] }>;

/** Source: solana-transaction-status, `TransactionTokenBalance`. `amount` is in base units. */
export type TokenBalance = Readonly<{
  accountIndex: number;
  mint: Address;
  /** null in blocks from before it was recorded. */
  owner: Address | null;
  /** null in blocks from before it was recorded. */
  programId: Address | null;
  amount: bigint;
  decimals: number;
}>;

export type ReturnData = Readonly<{ programId: Address; data: Uint8Array }>;

/**
 * What executing a transaction left behind; null is what its node did not record.
 * Source: solana-transaction-status, `TransactionStatusMeta`.
 */
export type TransactionMeta = Readonly<{
  err: TransactionError | null;
  fee: Lamports;
  /** One entry per key: static keys, loaded writable keys, loaded readonly keys. */
  preBalances: readonly Lamports[];
  postBalances: readonly Lamports[];
  innerInstructions: readonly InnerInstructions[] | null;
  logMessages: readonly string[] | null;
  preTokenBalances: readonly TokenBalance[] | null;
  postTokenBalances: readonly TokenBalance[] | null;
  /** Empty since rent is no longer collected. */
  rewards: readonly BlockReward[] | null;
  loadedAddresses: LoadedAddresses;
  /** null too when no program returned any. */
  returnData: ReturnData | null;
  computeUnitsConsumed: bigint | null;
  costUnits: bigint | null;
}>;
