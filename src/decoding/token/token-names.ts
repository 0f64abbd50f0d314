import type { Address } from '../../solana/address.ts';
import type { Chain } from '../chain/chain.ts';
import { findNames, type NameSources, type TokenName } from './find-names.ts';
import { readMints } from './read-mints.ts';

const MINTS_MAX = 1000;

/** Names the addresses that are mints. Takes one call per 50 mints, or per 100 mints that need no metadata. */
export async function nameMints(
  chain: Chain,
  addresses: ReadonlySet<Address>,
  sources: NameSources,
): Promise<Map<Address, TokenName>> {
  if (addresses.size === 0) return new Map();
  const { mints } = await readMints(chain, [...addresses].slice(0, MINTS_MAX), sources);
  return findNames(mints.values(), sources, chain.signal);
}
