import type { Address } from '../../ledger/address.ts';
import type { Chain } from '../chain/chain.ts';
import { readTokenMints } from '../nft/token-mint.ts';
import { type NameSources, nameTokens, type TokenName, unnamedToken } from './name-tokens.ts';
import { amountsOf } from './token-amount.ts';
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
 * The fungible tokens of a wallet, by mint and token account: two calls for what it holds and one for 50 mints; one
 * more where a mint bears interest or multiplies. What is one of a kind is left to the readers of NFTs.
 * @throws Failure, NodeRefusal.
 */
export async function tokensOfWallet(
  chain: Chain,
  wallet: Address,
  sources: NameSources,
): Promise<WalletToken[]> {
  const holdings = await holdingsOf(chain, wallet);
  const mints = await readTokenMints(chain, new Set(holdings.map(({ mint }) => mint)));
  const tokens = [...mints.values()].filter(({ isNft }) => !isNft);
  const [names, amounts] = await Promise.all([
    nameTokens(tokens, sources, chain.signal),
    amountsOf(
      chain,
      tokens.map(({ address, data }) => [address, data]),
    ),
  ]);
  return holdings.flatMap((holding) => {
    const token = mints.get(holding.mint);
    const show = amounts.get(holding.mint);
    if (token === undefined || show === undefined) return [];
    const { decimals } = token.mint;
    const name = names.get(holding.mint) ?? unnamedToken;
    return { holding, balance: show(holding.amount), decimals, name };
  });
}
