import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { Address } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import type { Chain } from '../chain/chain.ts';
import { findNames, type NameSources, type TokenName, unnamedToken } from './find-names.ts';
import { readMints } from './read-mints.ts';
import { uiAmountOfMint } from './token-amount.ts';
import { holdingsOf, type TokenHolding } from './token-holdings.ts';

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
