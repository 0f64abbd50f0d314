import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { sysvars } from '../../solana/programs.ts';
import { decodeClock } from '../../solana/sysvars.ts';
import type { Chain } from '../chain/chain.ts';
import { metadataAddresses } from '../nft/metaplex-addresses.ts';
import { isNamed } from './find-names.ts';
import type { TokenList } from './token-list.ts';
import { type TokenMint, tokenMintOf } from './token-mint.ts';

type ReadMints = Readonly<{
  mints: ReadonlyMap<Address, TokenMint>;
  /** Time of the clock sysvar in Unix seconds, if requested; scaled amounts depend on it. */
  now: bigint | undefined;
}>;

type ReadMintsOptions = Readonly<{
  clock?: boolean;
  /** Metadata is not read for mints whose name and image are in the list. */
  tokenList?: TokenList;
}>;

const MINTS_MAX = 20_000;

/** Reads mint accounts, their metadata accounts and optionally the clock. @throws Failure ANSWER_TOO_LARGE. */
export async function readMintAccounts(
  chain: Chain,
  mints: readonly Address[],
  { clock = false, tokenList }: ReadMintsOptions = {},
): Promise<Map<Address, Account>> {
  if (mints.length > MINTS_MAX) throw new Failure('ANSWER_TOO_LARGE');
  const unnamed = tokenList === undefined ? mints : mints.filter((mint) => !isNamed(mint, tokenList));
  const metadata = await metadataAddresses(unnamed);
  return chain.accounts([...mints, ...metadata, ...(clock ? [sysvars.clock] : [])]);
}

export async function readMints(
  chain: Chain,
  addresses: Iterable<Address>,
  options: ReadMintsOptions = {},
): Promise<ReadMints> {
  const requested = [...new Set(addresses)];
  const accounts = await readMintAccounts(chain, requested, options);
  const mints = new Map<Address, TokenMint>();
  await mapTimeSliced(requested, (address) => {
    const mint = tokenMintOf(address, accounts);
    if (mint !== null) mints.set(address, mint);
  });
  const clock = accounts.get(sysvars.clock);
  return { mints, now: clock === undefined ? undefined : decodeClock(clock.data)?.unixTimestamp };
}
