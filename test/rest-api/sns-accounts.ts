import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import type { Account } from '../../src/solana/account/account.ts';
import { type Address, addressBytes } from '../../src/solana/address.ts';
import { programs } from '../../src/solana/programs.ts';
import { account as accountWith } from '../streams/ledger-script.ts';

/** SNS accounts derived with web3.js, independent of the code under test. */

const NAMES = new PublicKey('namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX');
const OFFERS = new PublicKey('85iDfUvr3HJyLM2zcq5BXSiDvUWfw6cSE1FfNBo8Ap29');
const TOKENIZER = new PublicKey('nftD3vbNkNqfj2Sd3HZwbpw4BxxKWr4AjGb9X38JeZk');
const METADATA = new PublicKey('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s');
const ROOT = new PublicKey('58PwtjSDuFHuUkYjH9BYnnQKHfwo9reZhC2zMJv9JPkx');
const REVERSE_CLASS = new PublicKey('33m47vH6Eav6jr5Ry86XjhRft2jRBLDnDgPSHoquXi2Z');
const NONE = new PublicKey(new Uint8Array(32));

export type AccountEntry = readonly [Address, Account];

const text = (key: PublicKey): Address => key.toBase58() as Address;
const derived = (seeds: Uint8Array[], program: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync(seeds, program)[0];

const account = (owner: PublicKey | Address, data: Uint8Array): Account =>
  accountWith({ data, owner: typeof owner === 'string' ? (owner as Address) : text(owner) });

function nameKey(name: string, nameClass: PublicKey, parent: PublicKey): PublicKey {
  const hash = createHash('sha256').update(`SPL Name Service${name}`).digest();
  return derived([hash, nameClass.toBytes(), parent.toBytes()], NAMES);
}

const header = (parent: PublicKey, owner: Address, nameClass: PublicKey): Buffer =>
  Buffer.concat([parent.toBytes(), addressBytes(owner), nameClass.toBytes()]);

function lengthed(value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(Buffer.byteLength(value));
  return Buffer.concat([length, Buffer.from(value)]);
}

/** Name account of `bonfida` or `dex.bonfida`. */
export function keyOf(name: string): PublicKey {
  const [label, parent] = name.split('.');
  return parent === undefined
    ? nameKey(name, NONE, ROOT)
    : nameKey(`\0${label}`, NONE, nameKey(parent, NONE, ROOT));
}

export function domain(name: string, owner: Address): AccountEntry[] {
  const key = keyOf(name);
  const [label, above] = name.split('.') as [string, string?];
  const parent = above === undefined ? ROOT : keyOf(above);
  const reverse = nameKey(key.toBase58(), REVERSE_CLASS, above === undefined ? NONE : parent);
  const actual = lengthed(above === undefined ? label : `\0${label}`);
  return [
    [text(key), account(NAMES, Buffer.concat([header(parent, owner, NONE), Buffer.alloc(64)]))],
    [
      text(reverse),
      account(NAMES, Buffer.concat([header(NONE, text(REVERSE_CLASS), REVERSE_CLASS), actual])),
    ],
  ];
}

export const favourite = (wallet: Address, name: string): AccountEntry => [
  text(derived([Buffer.from('favourite_domain'), addressBytes(wallet)], OFFERS)),
  account(OFFERS, Buffer.concat([Buffer.from([7]), keyOf(name).toBytes()])),
];

export const mintOf = (name: string): Address =>
  text(derived([Buffer.from('tokenized_name'), keyOf(name).toBytes()], TOKENIZER));

const option = (key: PublicKey | null): Buffer =>
  Buffer.concat([Buffer.from([key === null ? 0 : 1, 0, 0, 0]), (key ?? NONE).toBytes()]);

const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};

/** The default authority is the tokenizer's. */
export const mint = (
  at: Address,
  authority = derived([TOKENIZER.toBytes()], TOKENIZER),
  decimals = 0,
): AccountEntry => [
  at,
  account(
    programs.token,
    Buffer.concat([option(authority), u64(1n), Buffer.from([decimals, 1]), option(authority)]),
  ),
];

export function held(wallet: Address, of: Address, amount = 1n, seed = 0): AccountEntry {
  const data = Buffer.concat([
    addressBytes(of),
    addressBytes(wallet),
    u64(amount),
    option(null),
    Buffer.from([1]),
    Buffer.alloc(12),
    u64(0n),
    option(null),
  ]);
  return [
    text(derived([addressBytes(wallet), addressBytes(of), Buffer.from([seed])], METADATA)),
    account(programs.token, data),
  ];
}

export const metadata = (of: Address, name: string): AccountEntry => [
  text(derived([Buffer.from('metadata'), METADATA.toBytes(), addressBytes(of)], METADATA)),
  account(
    METADATA,
    Buffer.concat([
      Buffer.from([4]),
      NONE.toBytes(),
      addressBytes(of),
      lengthed(name.padEnd(32, '\0')),
      lengthed('.sol'.padEnd(10, '\0')),
      lengthed('https://example.org/nft.json'.padEnd(200, '\0')),
      // Seller fee, no creators, not sold, mutable, without later fields.
      Buffer.from([0xf4, 1, 0, 0, 1, 0, 0, 0, 0, 0]),
      Buffer.alloc(230),
    ]),
  ),
];

/** Wrapped domain: the record owns the name account, the wallet holds the NFT. */
export function tokenized(name: string, wallet: Address): AccountEntry[] {
  const record = text(derived([Buffer.from('nft_record'), keyOf(name).toBytes()], TOKENIZER));
  const nft = mintOf(name);
  return [...domain(name, record), mint(nft), held(wallet, nft), metadata(nft, name)];
}
