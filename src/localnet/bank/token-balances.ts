import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { isTokenProgram } from '../../solana/programs.ts';
import { decodeMint, decodeTokenAccount } from '../../solana/token/token-state.ts';
import type { OwnTokenBalance } from './execution-meta.ts';

type ReadAccount = (address: Address) => Account | null;

/**
 * The token balances of a transaction's accounts in one state. An account whose mint cannot be read is left
 * out. Source: agave transaction-status, `collect_token_balances`.
 * @param keys - static keys, loaded writable keys, loaded readonly keys.
 */
export function tokenBalancesOf(keys: readonly Address[], read: ReadAccount): OwnTokenBalance[] {
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
