import { Lru } from '../../base/cache/lru.ts';
import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import { type Address, addressBytes } from '../../solana/address.ts';
import { findProgramAddress } from '../../solana/program-address.ts';
import { appPrograms } from '../program-addresses.ts';

/** The program that keeps names of tokens, and NFTs of the token programs. Source: mpl-token-metadata. */
export const metadataProgram: Address = appPrograms.tokenMetadata;

/** What finding addresses may hold and take. */
export const metaplexAddressLimits = {
  /** Addresses that are remembered, since finding one takes about 0.1 ms. Some 200 bytes each. */
  rememberedMax: 50_000,
} as const;

const remembered = new Lru<string, Address>(metaplexAddressLimits.rememberedMax);
const programBytes = addressBytes(metadataProgram);
const METADATA = Buffer.from('metadata');
const EDITION = Buffer.from('edition');
const TOKEN_RECORD = Buffer.from('token_record');

function find(key: string, mint: Address, ...rest: readonly Uint8Array[]): Address {
  const cached = remembered.get(key);
  if (cached !== undefined) return cached;
  const seeds = [METADATA, programBytes, addressBytes(mint), ...rest];
  const found = findProgramAddress(seeds, metadataProgram).address;
  remembered.set(key, found);
  return found;
}

/** Where the metadata of a mint is. */
export const metadataAddress = (mint: Address): Address => find(mint, mint);

/** Where the edition of a mint is, master or print. */
export const editionAddress = (mint: Address): Address => find(`${mint} edition`, mint, EDITION);

/** Where the token record of a programmable NFT is: one for each token account that holds it. */
export const tokenRecordAddress = (mint: Address, tokenAccount: Address): Address =>
  find(`${mint} ${tokenAccount}`, mint, TOKEN_RECORD, addressBytes(tokenAccount));

/** Where the metadata of each mint is. Finding thousands takes long: others have their turn in between. */
export const metadataAddresses = (mints: readonly Address[]): Promise<Address[]> =>
  mapTimeSliced(mints, metadataAddress);
