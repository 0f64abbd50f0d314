import type { Address } from '../address.ts';
import type { CompiledInstruction, LoadedAddresses } from '../message/message.ts';
import type { Lamports } from '../units.ts';
import type { TransactionError } from './transaction-error.ts';

export type InnerInstruction = CompiledInstruction & Readonly<{ stackHeight: number }>;

/** The inner instructions that one top-level instruction made. */
export type InnerInstructions = Readonly<{ index: number; instructions: readonly InnerInstruction[] }>;

/** Source: solana-transaction-status, `TransactionTokenBalance`. `amount` is in base units. */
export type TokenBalance = Readonly<{
  accountIndex: number;
  mint: Address;
  owner: Address;
  programId: Address;
  amount: bigint;
  decimals: number;
}>;

export type ReturnData = Readonly<{ programId: Address; data: Uint8Array }>;

/** What executing a transaction left behind. Source: solana-transaction-status, `TransactionStatusMeta`. */
export type TransactionMeta = Readonly<{
  err: TransactionError | null;
  fee: Lamports;
  /** One entry per key: static keys, loaded writable keys, loaded readonly keys. */
  preBalances: readonly Lamports[];
  postBalances: readonly Lamports[];
  innerInstructions: readonly InnerInstructions[];
  logMessages: readonly string[];
  preTokenBalances: readonly TokenBalance[];
  postTokenBalances: readonly TokenBalance[];
  loadedAddresses: LoadedAddresses;
  returnData: ReturnData | null;
  computeUnitsConsumed: bigint;
  costUnits: bigint;
}>;
