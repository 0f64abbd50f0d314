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

/** Fungible tokens that a wallet holds, sorted by mint and token account. Does not wait for images. */
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
  /** Sum over all of the wallet's token accounts of the mint. */
  balance: number;
  /** Associated token account if it is funded or no account is funded; else the account with the largest amount. */
  account: Address;
  /** Whether `account` is frozen. */
  isFrozen: boolean;
  name: TokenName;
}>;

function mainHolding(holdings: readonly TokenHolding[], associated: Address): TokenHolding | undefined {
  const funded = holdings.filter(({ amount }) => amount > 0n);
  const isAssociated = ({ account }: TokenHolding): boolean => account === associated;
  if (funded.length === 0) return holdings.find(isAssociated);
  return funded.find(isAssociated) ?? funded.reduce((best, one) => (one.amount > best.amount ? one : best));
}

/** @returns null if the mint does not exist. */
export async function tokenBalanceOf(
  chain: Chain,
  wallet: Address,
  mint: Address,
  sources: NameSources,
): Promise<TokenBalance | null> {
  // Nodes reject a token account query for an address that is not a mint, so the result for the mint is checked first.
  const [mintsResult, holdingsResult] = await Promise.allSettled([
    readMints(chain, [mint], { clock: true, tokenList: sources.tokenList }),
    holdingsOfMint(chain, wallet, mint),
  ]);
  if (mintsResult.status === 'rejected') throw mintsResult.reason;
  const { mints, now } = mintsResult.value;
  const token = mints.get(mint);
  if (token === undefined) return null;
  if (holdingsResult.status === 'rejected') throw holdingsResult.reason;
  const names = await findNames([token], sources, chain.signal);
  const associated = associatedTokenAccount(wallet, mint, token.program);
  const main = mainHolding(holdingsResult.value, associated);
  const amount = holdingsResult.value.reduce((sum, holding) => sum + holding.amount, 0n);
  return {
    balance: uiAmountOfMint(amount, token, now),
    account: main?.account ?? associated,
    isFrozen: main?.isFrozen ?? false,
    name: names.get(mint) ?? unnamedToken,
  };
}
