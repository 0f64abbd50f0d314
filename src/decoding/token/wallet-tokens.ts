import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { Address } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import type { Chain } from '../chain/chain.ts';
import { findNames, type NameSources, type TokenName, unnamedToken } from './find-names.ts';
import { readMints } from './read-mints.ts';
import { associatedTokenAccount, holdingsOf, holdingsOfMint, type TokenHolding } from './token-holdings.ts';
import { uiAmountOfMint } from './token-mint.ts';

/** A fungible token in a wallet. */
export type WalletToken = Readonly<{
  holding: TokenHolding;
  /** In whole tokens. */
  balance: number;
  decimals: number;
  name: TokenName;
}>;

/**
 * The fungible tokens of a wallet, by mint and token account. It takes two calls to see what the wallet holds, and one
 * for a hundred accounts of mints and their metadata. What is one of a kind is left to the readers of NFTs.
 * @throws Failure, NodeRefusal.
 */
export async function tokensOfWallet(
  chain: Chain,
  wallet: Address,
  sources: NameSources,
): Promise<WalletToken[]> {
  const holdings = await holdingsOf(chain, wallet);
  const { mints, now } = await readMints(
    chain,
    holdings.map(({ mint }) => mint),
    { clock: holdings.some(({ program }) => program === programs.token2022), list: sources.list },
  );
  const held = holdings.flatMap((holding) => {
    const token = mints.get(holding.mint);
    return token === undefined || (token.isNft && holding.amount === 1n) ? [] : [{ holding, token }];
  });
  const names = await findNames(new Set(held.map(({ token }) => token)), sources, chain.signal);
  return mapTimeSliced(held, ({ holding, token }) => ({
    holding,
    balance: uiAmountOfMint(holding.amount, token, now),
    decimals: token.mint.decimals,
    name: names.get(holding.mint) ?? unnamedToken,
  }));
}

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
