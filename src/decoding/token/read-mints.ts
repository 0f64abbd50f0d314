import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { sysvars } from '../../solana/programs.ts';
import { decodeClock } from '../../solana/sysvar/clock.ts';
import type { Chain } from '../chain/chain.ts';
import { metadataAddresses } from '../nft/metaplex-addresses.ts';
import { isNamed } from './find-names.ts';
import type { TokenList } from './token-list.ts';
import { type TokenMint, tokenMintOf } from './token-mint.ts';

/** Mints as they are now. */
export type ReadMints = Readonly<{
  /** Those of the addresses that are mints. Metadata of those that the list names whole may not have been read. */
  mints: ReadonlyMap<Address, TokenMint>;
  /** The chain's clock in Unix seconds, where it was asked for: amounts of some mints change with time. */
  now: bigint | undefined;
}>;

/** What is read along with mints. */
export type Along = Readonly<{
  /** The clock; not when absent. */
  clock?: boolean;
  /** Tokens that it names whole need no metadata; where it is absent, that of every mint is read. */
  list?: TokenList;
}>;

/** How many mints one answer may stand on. */
export const mintsLimits = {
  /** Mints that are read at once; a wallet that holds more gets ANSWER_TOO_LARGE. */
  mintsMax: 20_000,
};

/**
 * The accounts at these addresses, those of their metadata if they are mints, and the clock, in as few
 * getMultipleAccounts as there are hundreds of them.
 * @throws Failure ANSWER_TOO_LARGE for more than `mintsLimits` allow, others, NodeRefusal.
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

/** Those of the addresses that are mints, what they are called, and the time. @throws as `readMintAccounts`. */
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
