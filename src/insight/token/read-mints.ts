import type { Address } from '../../ledger/address.ts';
import { sysvars } from '../../ledger/programs.ts';
import { decodeClock } from '../../ledger/sysvar/clock.ts';
import type { Chain } from '../chain/chain.ts';
import { metadataAddresses } from '../nft/metaplex-addresses.ts';
import { type TokenMint, tokenMintOf } from '../nft/token-mint.ts';
import { isNamed } from './name-tokens.ts';
import type { TokenList } from './token-list.ts';

/** Mints as they are now. */
export type ReadMints = Readonly<{
  /** Those of the addresses that are mints. Metadata of those that the list names whole may not have been read. */
  mints: ReadonlyMap<Address, TokenMint>;
  /** The chain's clock in Unix seconds, where it was asked for: amounts of some mints change with time. */
  now: bigint | undefined;
}>;

/** What is read along with mints. */
export type Along = Readonly<{
  /** The clock. */
  clock: boolean;
  /** Metadata of every mint, also where a list names it. */
  allMetadata?: boolean;
}>;

/**
 * Reads mints, what they are called and the time in as few getMultipleAccounts as there are hundreds of accounts.
 * @throws Failure, NodeRefusal.
 */
export async function readMints(
  chain: Chain,
  addresses: Iterable<Address>,
  list: TokenList,
  { clock, allMetadata = false }: Along,
): Promise<ReadMints> {
  const wanted = [...new Set(addresses)];
  const unnamed = allMetadata ? wanted : wanted.filter((mint) => !isNamed(mint, list));
  const beside = await metadataAddresses(unnamed);
  const accounts = await chain.accounts([...wanted, ...beside, ...(clock ? [sysvars.clock] : [])]);
  const mints = new Map<Address, TokenMint>();
  for (const address of wanted) {
    const mint = tokenMintOf(address, accounts);
    if (mint !== null) mints.set(address, mint);
  }
  const clockData = clock ? accounts.get(sysvars.clock)?.data : undefined;
  return { mints, now: clockData === undefined ? undefined : decodeClock(clockData)?.unixTimestamp };
}
