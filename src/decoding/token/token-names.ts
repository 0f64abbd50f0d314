import type { Address } from '../../solana/address.ts';
import type { Chain } from '../chain/chain.ts';
import { findNames, type NameSources } from './find-names.ts';
import { readMints } from './read-mints.ts';

/** A token as answers name it. Members in this order. Source: rest-api.md §3.1, "SWAP". */
export type NamedToken = Readonly<{
  name: string;
  symbol: string;
  /** Empty where nothing names one. */
  image_uri: string;
  decimals: number;
}>;

/** How many names one answer may stand on. */
export const tokenNamesLimits = {
  /** Mints that one answer looks up; those named first come first. */
  mintsMax: 1000,
};

/** Names the tokens of whole answers, such as a hundred parsed transactions, at once. */
export class TokenNames {
  readonly #sources: NameSources;
  readonly #mintsMax: number;

  constructor(sources: NameSources, { mintsMax }: typeof tokenNamesLimits = tokenNamesLimits) {
    this.#sources = sources;
    this.#mintsMax = mintsMax;
  }

  /**
   * The names of mints, each looked up once: one getMultipleAccounts for 50 of them, or for 100 that the list names.
   * @returns those that are mints, by mint; `unnamedToken` has the words for others.
   * @throws Failure, NodeRefusal.
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
