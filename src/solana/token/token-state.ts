import { ByteReader } from '../../base/bytes.ts';
import { addressFromBytes } from '../address.ts';
import { pubkey, u64 } from '../codec.ts';

export const MINT_BYTES = 82;
export const TOKEN_ACCOUNT_BYTES = 165;
export const MULTISIG_BYTES = 355;

/** Offset of the type byte in extended Token-2022 accounts: 1 for a mint, 2 for a token account. */
export const ACCOUNT_TYPE_OFFSET = TOKEN_ACCOUNT_BYTES;

const kinds = {
  mint: { bytes: MINT_BYTES, type: 1 },
  account: { bytes: TOKEN_ACCOUNT_BYTES, type: 2 },
} as const;

/**
 * True for plain state, and for extended state with zero padding and the right type byte. Never for a multisig.
 * Source: spl-token-2022, `extension::type_and_tlv_indices`.
 */
function isTokenState(data: Uint8Array, kind: keyof typeof kinds): boolean {
  const { bytes, type } = kinds[kind];
  if (data.length === bytes) return true;
  if (data.length <= ACCOUNT_TYPE_OFFSET || data.length === MULTISIG_BYTES) return false;
  for (let i = bytes; i < ACCOUNT_TYPE_OFFSET; i++) if (data[i] !== 0) return false;
  return data[ACCOUNT_TYPE_OFFSET] === type;
}

/** Reads a COption, whose value bytes are present even for None. @returns undefined for an invalid tag. */
function readCOption<T>(reader: ByteReader, read: (reader: ByteReader) => T): T | null | undefined {
  const tag = reader.u32();
  const value = read(reader);
  if (tag === 0) return null;
  return tag === 1 ? value : undefined;
}

const SIGNERS_MAX = 11;

/** The signers are the nonzero keys. Source: spl-token, `state::Multisig`. */
export function decodeMultisig(data: Uint8Array) {
  if (data.length !== MULTISIG_BYTES) return null;
  const reader = new ByteReader(data);
  const numRequiredSigners = reader.u8();
  const numValidSigners = reader.u8();
  if (reader.u8() !== 1) return null;
  const keys = Array.from({ length: SIGNERS_MAX }, () => reader.bytes(32));
  const present = keys.filter((key) => key.some((byte) => byte !== 0));
  return { numRequiredSigners, numValidSigners, signers: present.map(addressFromBytes) };
}

/** The supply is in base units. Source: spl-token, `state::Mint`. */
export function decodeMint(data: Uint8Array) {
  if (!isTokenState(data, 'mint')) return null;
  const reader = new ByteReader(data.subarray(0, MINT_BYTES));
  const mintAuthority = readCOption(reader, pubkey.read);
  const supply = reader.u64();
  const decimals = reader.u8();
  const initialized = reader.u8();
  const freezeAuthority = readCOption(reader, pubkey.read);
  if (initialized !== 1 || mintAuthority === undefined || freezeAuthority === undefined) return null;
  return { mintAuthority, supply, decimals, freezeAuthority };
}

export type Mint = Readonly<NonNullable<ReturnType<typeof decodeMint>>>;

/** Offsets of the keys; a 4-byte tag precedes the delegate. */
export const tokenKeyOffsets = { mint: 0, owner: 32, delegate: 76 } as const;
const DELEGATE_TAG_OFFSET = 72;

export const hasDelegate = (data: Uint8Array): boolean => data[DELEGATE_TAG_OFFSET] === 1;

export function isTokenAccount(data: Uint8Array): boolean {
  return isTokenState(data, 'account') && (data[108] === 1 || data[108] === 2);
}

/**
 * Amounts are in base units; `isNative` is the rent-exempt reserve of wrapped SOL in lamports, and null for other
 * tokens. Source: spl-token, `state::Account`.
 */
export function decodeTokenAccount(data: Uint8Array) {
  if (!isTokenAccount(data)) return null;
  const reader = new ByteReader(data.subarray(0, TOKEN_ACCOUNT_BYTES));
  const mint = pubkey.read(reader);
  const owner = pubkey.read(reader);
  const amount = reader.u64();
  const delegate = readCOption(reader, pubkey.read);
  const state = reader.u8() === 2 ? 'frozen' : 'initialized';
  const isNative = readCOption(reader, u64.read);
  const delegatedAmount = reader.u64();
  const closeAuthority = readCOption(reader, pubkey.read);
  if (delegate === undefined || isNative === undefined || closeAuthority === undefined) return null;
  return { mint, owner, amount, delegate, state, isNative, delegatedAmount, closeAuthority };
}

export type TokenAccount = Readonly<NonNullable<ReturnType<typeof decodeTokenAccount>>>;
