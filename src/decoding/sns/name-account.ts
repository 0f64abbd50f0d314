import { createHash } from 'node:crypto';
import type { Account } from '../../solana/account/account.ts';
import { type Address, address, addressBytes } from '../../solana/address.ts';
import { pubkey, readOrNull } from '../../solana/codec.ts';
import { findProgramAddress } from '../../solana/program-address.ts';
import { readString } from '../borsh.ts';

// Solana Name Service accounts. Sources: spl-name-service `state.rs`; SNS SDK, `deriveAddress` and `reverseLookup`;
// rest-api.md §4, "SNS".

export const snsPrograms = {
  names: address('namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX'),
  /** Stores favorite domains. */
  offers: address('85iDfUvr3HJyLM2zcq5BXSiDvUWfw6cSE1FfNBo8Ap29'),
  /** Wraps domains as NFTs. */
  tokenizer: address('nftD3vbNkNqfj2Sd3HZwbpw4BxxKWr4AjGb9X38JeZk'),
} as const satisfies Record<string, Address>;

export const rootDomain: Address = address('58PwtjSDuFHuUkYjH9BYnnQKHfwo9reZhC2zMJv9JPkx');

/** Class of the accounts that map addresses back to names. */
const reverseClass: Address = address('33m47vH6Eav6jr5Ry86XjhRft2jRBLDnDgPSHoquXi2Z');

const HASH_PREFIX = 'SPL Name Service';
const NONE = new Uint8Array(32);
const HEADER_BYTES = 96;
const FAVORITE_SEED = Buffer.from('favourite_domain');

const SUBDOMAIN_MARK = '\0';

/** `class` is all zeros for domains. */
export type NameAccount = Readonly<{ parent: Address; owner: Address; class: Address; data: Uint8Array }>;

export const nameOffsets = { parent: 0, owner: 32 } as const;

function nameAddress(name: string, nameClass: Address | null, parent: Address | null): Address {
  const hashed = createHash('sha256').update(HASH_PREFIX).update(name).digest();
  const seeds = [
    hashed,
    nameClass === null ? NONE : addressBytes(nameClass),
    parent === null ? NONE : addressBytes(parent),
  ];
  return findProgramAddress(seeds, snsPrograms.names).address;
}

/** Name account of a domain such as `bonfida` or `dex.bonfida`. */
export function domainAccount(name: string): Address {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return nameAddress(name, null, rootDomain);
  const parent = domainAccount(name.slice(dot + 1));
  return nameAddress(`${SUBDOMAIN_MARK}${name.slice(0, dot)}`, null, parent);
}

/** @param parent - parent domain of a subdomain; null for a top-level domain. */
export const reverseAccount = (nameAccount: Address, parent: Address | null): Address =>
  nameAddress(nameAccount, reverseClass, parent);

export const favoriteAccount = (wallet: Address): Address =>
  findProgramAddress([FAVORITE_SEED, addressBytes(wallet)], snsPrograms.offers).address;

export function decodeNameAccount(account: Account | undefined): NameAccount | null {
  if (account?.owner !== snsPrograms.names) return null;
  return readOrNull(account.data, (reader) => ({
    parent: pubkey.read(reader),
    owner: pubkey.read(reader),
    class: pubkey.read(reader),
    data: account.data.subarray(HEADER_BYTES),
  }));
}

export function decodeReverseName(account: Account | undefined): string | null {
  const name = decodeNameAccount(account);
  if (name === null) return null;
  const text = readOrNull(name.data, readString);
  const label = text?.startsWith(SUBDOMAIN_MARK) ? text.slice(1) : text;
  return label === '' ? null : (label ?? null);
}

export function decodeFavorite(account: Account | undefined): Address | null {
  if (account?.owner !== snsPrograms.offers) return null;
  // Skip the type tag: the address already determines the type.
  return readOrNull(account.data.subarray(1), pubkey.read);
}
