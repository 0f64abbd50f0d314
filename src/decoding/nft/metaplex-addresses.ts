import { Lru } from '../../base/cache/lru.ts';
import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import { type Address, addressBytes } from '../../solana/address.ts';
import { findProgramAddress } from '../../solana/program-address.ts';
import { appPrograms } from '../program-addresses.ts';

export const metadataProgram: Address = appPrograms.tokenMetadata;

/** Number of cached addresses, about 200 bytes each; deriving an address takes about 0.1 ms. */
const CACHED_ADDRESSES_MAX = 50_000;

const cachedAddresses = new Lru<string, Address>(CACHED_ADDRESSES_MAX);
const programBytes = addressBytes(metadataProgram);
const METADATA = Buffer.from('metadata');
const EDITION = Buffer.from('edition');
const TOKEN_RECORD = Buffer.from('token_record');

function find(key: string, mint: Address, ...rest: readonly Uint8Array[]): Address {
  const cached = cachedAddresses.get(key);
  if (cached !== undefined) return cached;
  const seeds = [METADATA, programBytes, addressBytes(mint), ...rest];
  const found = findProgramAddress(seeds, metadataProgram).address;
  cachedAddresses.set(key, found);
  return found;
}

export const metadataAddress = (mint: Address): Address => find(mint, mint);

export const editionAddress = (mint: Address): Address => find(`${mint} edition`, mint, EDITION);

export const tokenRecordAddress = (mint: Address, tokenAccount: Address): Address =>
  find(`${mint} ${tokenAccount}`, mint, TOKEN_RECORD, addressBytes(tokenAccount));

/** Yields to the event loop while deriving thousands of addresses. */
export const metadataAddresses = (mints: readonly Address[]): Promise<Address[]> =>
  mapTimeSliced(mints, metadataAddress);
