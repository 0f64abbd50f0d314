import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { CompiledInstruction } from '../../../../src/solana/message/message.ts';
import { isTokenProgram } from '../../../../src/solana/programs.ts';
import { decodeMint, decodeTokenAccount } from '../../../../src/solana/token/token-state.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { TokenBalance, TransactionMeta } from '../../../../src/solana/transaction/transaction-meta.ts';

export type RecordedInnerInstruction = CompiledInstruction & Readonly<{ stackHeight: number }>;
export type RecordedInnerInstructions = Readonly<{
  index: number;
  instructions: readonly RecordedInnerInstruction[];
}>;
export type RecordedTokenBalance = TokenBalance & Readonly<{ owner: Address; programId: Address }>;

/** Transaction meta as recorded by this ledger: complete, with nothing unrecorded. */
export type RecordedMeta = TransactionMeta &
  Readonly<{
    /** null, like the logs, when only the fee was charged. */
    innerInstructions: readonly RecordedInnerInstructions[] | null;
    preTokenBalances: readonly RecordedTokenBalance[];
    postTokenBalances: readonly RecordedTokenBalance[];
    rewards: readonly [];
    computeUnitsConsumed: bigint;
    costUnits: bigint;
  }>;

export type RecordedTransaction = Readonly<{ transaction: Transaction; meta: RecordedMeta }>;

type ReadAccount = (address: Address) => Account | null;

/**
 * Token balances in a state. Accounts whose mint cannot be read are omitted. Source: agave transaction-status,
 * `collect_token_balances`.
 * @param keys - static, loaded writable, loaded readonly.
 */
export function tokenBalancesOf(keys: readonly Address[], read: ReadAccount): RecordedTokenBalance[] {
  if (!keys.some(isTokenProgram)) return [];
  return keys.flatMap((key, accountIndex) => {
    const account = read(key);
    if (account === null || !isTokenProgram(account.owner)) return [];
    const token = decodeTokenAccount(account.data);
    if (token === null) return [];
    const decimals = decimalsOf(token.mint, account.owner, read);
    if (decimals === null) return [];
    const { mint, owner, amount } = token;
    return [{ accountIndex, mint, owner, programId: account.owner, amount, decimals }];
  });
}

function decimalsOf(mint: Address, program: Address, read: ReadAccount): number | null {
  const account = read(mint);
  if (account === null || account.owner !== program) return null;
  return decodeMint(account.data)?.decimals ?? null;
}
