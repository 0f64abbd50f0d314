import type { Address } from '../../solana/address.ts';
import type { CompiledInstruction } from '../../solana/message/message.ts';
import type { Transaction } from '../../solana/transaction/transaction.ts';
import type { TokenBalance, TransactionMeta } from '../../solana/transaction/transaction-meta.ts';

export type OwnInnerInstruction = CompiledInstruction & Readonly<{ stackHeight: number }>;
export type OwnInnerInstructions = Readonly<{ index: number; instructions: readonly OwnInnerInstruction[] }>;
export type OwnTokenBalance = TokenBalance & Readonly<{ owner: Address; programId: Address }>;

/** What executing a transaction left behind, as this ledger records it: nothing is missing. */
export type OwnMeta = TransactionMeta &
  Readonly<{
    innerInstructions: readonly OwnInnerInstructions[];
    logMessages: readonly string[];
    preTokenBalances: readonly OwnTokenBalance[];
    postTokenBalances: readonly OwnTokenBalance[];
    rewards: readonly [];
    computeUnitsConsumed: bigint;
    costUnits: bigint;
  }>;

/** A transaction that this ledger executed. */
export type OwnTransaction = Readonly<{ transaction: Transaction; meta: OwnMeta }>;
