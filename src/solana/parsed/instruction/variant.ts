import type { ByteReader } from '../../../base/bytes.ts';
import { type Address, addressFromBytes } from '../../address.ts';
import { Undecodable } from '../bincode.ts';
import type { Members } from '../wire-order.ts';

/** Type and info of an instruction. */
export type ParsedParts = Readonly<{ type: string; info?: Members }>;

/** Decodes one variant after its discriminant; null with too few addresses. */
export type Variant = (data: ByteReader, given: readonly Address[]) => ParsedParts | null;

/**
 * Names addresses in order. Names ending in `?` are optional; extra addresses stay unnamed.
 *
 * @returns null when a required address is missing
 */
export function nameAddresses(names: readonly string[], given: readonly Address[]): Members | null {
  const members: Record<string, Address> = {};
  for (const [position, name] of names.entries()) {
    const address = given[position];
    const optional = name.endsWith('?');
    if (address !== undefined) members[optional ? name.slice(0, -1) : name] = address;
    else if (!optional) return null;
  }
  return members;
}

/** `names` may depend on the addresses, for programs with two layouts. */
export function variant(
  type: string,
  names: readonly string[] | ((given: readonly Address[]) => readonly string[]),
  read?: (data: ByteReader, given: readonly Address[]) => Members,
): Variant {
  return (data, given) => {
    const addresses = nameAddresses(typeof names === 'function' ? names(given) : names, given);
    if (addresses === null) return null;
    return { type, info: read === undefined ? addresses : { ...addresses, ...read(data, given) } };
  };
}

/** A single authority, or a multisig with its signers under `multisig…`. */
export function authorityMembers(name: string, given: readonly Address[], position: number): Members {
  const signers = given.slice(position + 1);
  if (signers.length === 0) return { [name]: given[position] };
  return { [`multisig${name[0]?.toUpperCase()}${name.slice(1)}`]: given[position], signers };
}

/** Variant with an authority after the named accounts. */
export function authorized(
  type: string,
  names: readonly string[],
  authority: string,
  read?: (data: ByteReader) => Members,
): Variant {
  return (data, given) => {
    if (given.length <= names.length) return null;
    const addresses = { ...nameAddresses(names, given), ...authorityMembers(authority, given, names.length) };
    return { type, info: { ...addresses, ...read?.(data) } };
  };
}

/** Token-2022 extension data. */

export type Read = (data: ByteReader) => Members;

/** Sub-instructions by a u8 after the token program's own. */
export const byU8 =
  (variants: readonly Variant[]): Variant =>
  (data, given) =>
    variants[data.u8()]?.(data, given) ?? null;

/** Most extensions require the exact data length. */
export const exactly =
  (read: Read): Read =>
  (data) => {
    const members = read(data);
    if (data.remaining > 0) throw new Undecodable('bytes left over');
    return members;
  };

const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

/** All zeros mean none. */
export function maybeAddress(data: ByteReader): Address | null {
  const bytes = data.bytes(32);
  return isZero(bytes) ? null : addressFromBytes(bytes);
}

export const readI8 = (data: ByteReader): number => (data.u8() << 24) >> 24;

export const readI16 = (data: ByteReader): number => (data.u16() << 16) >> 16;

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const ELGAMAL_KEY_BYTES = 32;
const ELGAMAL_CIPHERTEXT_BYTES = 64;
const AE_CIPHERTEXT_BYTES = 36;

/** ElGamal key in base64, like the following. */
export const elGamalKey = (data: ByteReader): string => base64(data.bytes(ELGAMAL_KEY_BYTES));

/** All zeros mean none. */
export function maybeElGamalKey(data: ByteReader): string | null {
  const bytes = data.bytes(ELGAMAL_KEY_BYTES);
  return isZero(bytes) ? null : base64(bytes);
}

export const decryptableBalance = (data: ByteReader): string => base64(data.bytes(AE_CIPHERTEXT_BYTES));

/** Auditor ciphertexts, low and high part; not shown. */
export const skipAuditorAmount = (data: ByteReader): void => data.skipBytes(2 * ELGAMAL_CIPHERTEXT_BYTES);
