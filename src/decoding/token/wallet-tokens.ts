import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { Address } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import type { Chain } from '../chain/chain.ts';
import { findNames, type NameSources, type TokenName, unnamedToken } from './find-names.ts';
import { readMints } from './read-mints.ts';
import { associatedTokenAccount, holdingsOf, holdingsOfMint, type TokenHolding } from './token-holdings.ts';
import { uiAmountOfMint } from './token-mint.ts';

export type WalletToken = Readonly<{
  holding: TokenHolding;
  balance: number;
  decimals: number;
  name: TokenName;
}>;

/** Fungible tokens of a wallet, sorted by mint and token account. Does not wait for images. */
export async function tokensOfWallet(
  chain: Chain,
  wallet: Address,
  sources: NameSources,
): Promise<WalletToken[]> {
  const holdings = await holdingsOf(chain, wallet);
  const { mints, now } = await readMints(
    chain,
    holdings.map(({ mint }) => mint),
    { clock: holdings.some(({ program }) => program === programs.token2022), tokenList: sources.tokenList },
  );
  const held = holdings.flatMap((holding) => {
    const token = mints.get(holding.mint);
    return token === undefined || (token.isNft && holding.amount === 1n) ? [] : [{ holding, token }];
  });
  const names = await findNames(new Set(held.map(({ token }) => token)), sources, null);
  return mapTimeSliced(held, ({ holding, token }) => ({
    holding,
    balance: uiAmountOfMint(holding.amount, token, now),
    decimals: token.mint.decimals,
    name: names.get(holding.mint) ?? unnamedToken,
  }));
}

export type TokenBalance = Readonly<{
  balance: number;
  /** Associated token account if it is funded or no account is funded; else the account with the largest amount. */
  account: Address;
  isFrozen: boolean;
  name: TokenName;
}>;

function mainHolding(holdings: readonly TokenHolding[], associated: Address): TokenHolding | undefined {
  const funded = holdings.filter(({ amount }) => amount > 0n);
  const isAssociated = ({ account }: TokenHolding): boolean => account === associated;
  if (funded.length === 0) return holdings.find(isAssociated);
  return funded.find(isAssociated) ?? funded.reduce((best, one) => (one.amount > best.amount ? one : best));
}

/** null if the mint does not exist. */
export async function tokenBalanceOf(
  chain: Chain,
  wallet: Address,
  mint: Address,
  sources: NameSources,
): Promise<TokenBalance | null> {
  // Nodes reject a token account query for an address that is not a mint, so the result for the mint is checked first.
  const [read, held] = await Promise.allSettled([
    readMints(chain, [mint], { clock: true, tokenList: sources.tokenList }),
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
