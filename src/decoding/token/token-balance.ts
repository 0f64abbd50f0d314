import type { Address } from '../../solana/address.ts';
import type { Chain } from '../chain/chain.ts';
import { associatedTokenAccount } from './associated-token-account.ts';
import { findNames, type NameSources, type TokenName, unnamedToken } from './find-names.ts';
import { readMints } from './read-mints.ts';
import { uiAmountOfMint } from './token-amount.ts';
import { holdingsOfMint, type TokenHolding } from './token-holdings.ts';

/** What a wallet has of one token. */
export type TokenBalance = Readonly<{
  /** In whole tokens, of all its token accounts. */
  balance: number;
  /** The associated token account, unless the token is in others only: then the fullest. */
  account: Address;
  /** Whether that account is frozen. */
  isFrozen: boolean;
  name: TokenName;
}>;

/** The account to name, of those there are: none where only the associated one would do, and it is not there. */
function mainHolding(holdings: readonly TokenHolding[], associated: Address): TokenHolding | undefined {
  const full = holdings.filter(({ amount }) => amount > 0n);
  const isAssociated = ({ account }: TokenHolding): boolean => account === associated;
  if (full.length === 0) return holdings.find(isAssociated);
  return full.find(isAssociated) ?? full.reduce((best, one) => (one.amount > best.amount ? one : best));
}

/**
 * The balance of one token in a wallet, 0 where it has none, in two calls.
 * @returns null when there is no such mint.
 * @throws Failure, NodeRefusal.
 */
export async function tokenBalanceOf(
  chain: Chain,
  wallet: Address,
  mint: Address,
  sources: NameSources,
): Promise<TokenBalance | null> {
  // Nodes refuse to list accounts of what is no mint, so what the mint is counts first.
  const [read, held] = await Promise.allSettled([
    readMints(chain, [mint], { clock: true, list: sources.list }),
    holdingsOfMint(chain, wallet, mint),
  ]);
  if (read.status === 'rejected') throw read.reason;
  const { mints, now } = read.value;
  const token = mints.get(mint);
  if (token === undefined) return null;
  if (held.status === 'rejected') throw held.reason;
  const names = await findNames([token], sources, chain.signal);
  const associated = associatedTokenAccount(wallet, mint, token.program);
  const main = mainHolding(held.value, associated);
  const amount = held.value.reduce((sum, holding) => sum + holding.amount, 0n);
  return {
    balance: uiAmountOfMint(amount, token, now),
    account: main?.account ?? associated,
    isFrozen: main?.isFrozen ?? false,
    name: names.get(mint) ?? unnamedToken,
  };
}
