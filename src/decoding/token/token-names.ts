import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { sysvars } from '../../solana/programs.ts';
import { decodeClock } from '../../solana/sysvars.ts';
import type { Chain } from '../chain/chain.ts';
import { metadataAddresses } from '../nft/metaplex-addresses.ts';
import { findNames, isNamed, type NameSources } from './find-names.ts';
import type { TokenList } from './token-list.ts';
import { type TokenMint, tokenMintOf } from './token-mint.ts';

type ReadMints = Readonly<{
  mints: ReadonlyMap<Address, TokenMint>;
  /** Clock sysvar in Unix seconds, if requested; scaled amounts depend on it. */
  now: bigint | undefined;
}>;

type Along = Readonly<{
  /** Whether to read the clock. */
  clock?: boolean;
  list?: TokenList;
}>;

const mintsLimits = {
  mintsMax: 20_000,
};

/**
 * Reads mint accounts, their metadata accounts and the clock in batches of 100.
 * @throws Failure ANSWER_TOO_LARGE beyond `mintsLimits`, other Failures, NodeRejection.
 */
export async function readMintAccounts(
  chain: Chain,
  mints: readonly Address[],
  { clock = false, list }: Along = {},
): Promise<Map<Address, Account>> {
  if (mints.length > mintsLimits.mintsMax) throw new Failure('ANSWER_TOO_LARGE');
  const unnamed = list === undefined ? mints : mints.filter((mint) => !isNamed(mint, list));
  const beside = await metadataAddresses(unnamed);
  return chain.accounts([...mints, ...beside, ...(clock ? [sysvars.clock] : [])]);
}

/** @throws as `readMintAccounts`. */
export async function readMints(
  chain: Chain,
  addresses: Iterable<Address>,
  along: Along = {},
): Promise<ReadMints> {
  const requested = [...new Set(addresses)];
  const accounts = await readMintAccounts(chain, requested, along);
  const mints = new Map<Address, TokenMint>();
  await mapTimeSliced(requested, (address) => {
    const mint = tokenMintOf(address, accounts);
    if (mint !== null) mints.set(address, mint);
  });
  const clock = accounts.get(sysvars.clock);
  return { mints, now: clock === undefined ? undefined : decodeClock(clock.data)?.unixTimestamp };
}

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
