import type { ByteReader } from '../../../base/bytes.ts';
import { type Address, addressFromBytes } from '../../address.ts';
import { Undecodable } from '../bincode.ts';
import type { Members } from '../wire-order.ts';
import type { Variant } from './variant.ts';

/** How the instructions of Token-2022's extensions carry their data. */

/** Reads what an instruction says in its data. */
export type Read = (data: ByteReader) => Members;

/** The instructions of one extension, told apart by a u8 behind the token program's own. */
export const byU8 =
  (variants: readonly Variant[]): Variant =>
  (data, given) =>
    variants[data.u8()]?.(data, given) ?? null;

/** Most extensions overlay their data with a structure, and take no byte more or less. */
export const exactly =
  (read: Read): Read =>
  (data) => {
    const members = read(data);
    if (data.remaining > 0) throw new Undecodable('bytes left over');
    return members;
  };

const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

/** An address of which all zeros mean none. */
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

/** An ElGamal key; shown in base64, as all of the following. */
export const elGamalKey = (data: ByteReader): string => base64(data.bytes(ELGAMAL_KEY_BYTES));

/** An ElGamal key of which all zeros mean none. */
export function maybeElGamalKey(data: ByteReader): string | null {
  const bytes = data.bytes(ELGAMAL_KEY_BYTES);
  return isZero(bytes) ? null : base64(bytes);
}

/** A balance that its owner can decrypt. */
export const decryptableBalance = (data: ByteReader): string => base64(data.bytes(AE_CIPHERTEXT_BYTES));

/** An amount that the auditor can decrypt, in a low and a high part; not shown. */
export const skipAuditorAmount = (data: ByteReader): void => data.skipBytes(2 * ELGAMAL_CIPHERTEXT_BYTES);
