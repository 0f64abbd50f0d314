import type { Address } from '../../solana/address.ts';
import type { Chain } from '../chain/chain.ts';
import { findNames, type NameSources } from './find-names.ts';
import { readMints } from './read-mints.ts';

/** Token name in a response, members in this order. Source: rest-api.md §3.1, "SWAP". */
export type NamedToken = Readonly<{
  name: string;
  symbol: string;
  image_uri: string;
  decimals: number;
}>;

const tokenNamesLimits = {
  mintsMax: 1000,
};

export class TokenNames {
  readonly #sources: NameSources;
  readonly #mintsMax: number;

  constructor(sources: NameSources, { mintsMax }: typeof tokenNamesLimits = tokenNamesLimits) {
    this.#sources = sources;
    this.#mintsMax = mintsMax;
  }

  /**
   * Looks up each mint once: one getMultipleAccounts per 50 mints, or per 100 that the list names.
   * @returns names of the addresses that are mints.
   *
   */
  async names(chain: Chain, mints: Iterable<Address>): Promise<Map<Address, NamedToken>> {
    const requested = [...new Set(mints)].slice(0, this.#mintsMax);
    const { mints: tokens } = await readMints(chain, requested, { list: this.#sources.list });
    const names = await findNames(tokens.values(), this.#sources, chain.signal);
    const named = new Map<Address, NamedToken>();
    for (const [address, { mint }] of tokens) {
      const name = names.get(address);
      if (name === undefined) continue;
      named.set(address, {
        ...{ name: name.name, symbol: name.symbol, image_uri: name.image },
        decimals: mint.decimals,
      });
    }
    return named;
  }
}
