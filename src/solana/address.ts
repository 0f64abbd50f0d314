import type { Brand } from '../base/brand.ts';
import { decodeBase58, encodeBase58 } from './base58.ts';

export type Address = Brand<string, 'Address'>;

export const ADDRESS_BYTES = 32;
export const ADDRESS_TEXT_MAX = 44;

/** Variants of Agave's `ParsePubkeyError`. */
export type AddressFault = 'Invalid' | 'WrongSize';

export function parseAddress(text: string): { address: Address } | { fault: AddressFault } {
  if (text.length > ADDRESS_TEXT_MAX) return { fault: 'WrongSize' };
  const bytes = decodeBase58(text);
  if (bytes === null) return { fault: 'Invalid' };
  return bytes.length === ADDRESS_BYTES ? { address: text as Address } : { fault: 'WrongSize' };
}

export function address(text: string): Address {
  const parsed = parseAddress(text);
  if ('fault' in parsed) throw new RangeError(`not an address: ${text}`);
  return parsed.address;
}

export function addressFromBytes(bytes: Uint8Array): Address {
  if (bytes.length !== ADDRESS_BYTES)
    throw new RangeError(`an address must be 32 bytes, not ${bytes.length}`);
  return encodeBase58(bytes) as Address;
}

export function addressBytes(value: Address): Uint8Array {
  const bytes = decodeBase58(value);
  if (bytes === null) throw new RangeError(`not an address: ${value}`);
  return bytes;
}

const LEADING_ZEROS = /^1+/;

/** Compares by bytes without decoding: with leading zeros stripped, base58 sorts by length, then by characters. */
export function compareAddresses(a: Address, b: Address): number {
  const left = a.replace(LEADING_ZEROS, '');
  const right = b.replace(LEADING_ZEROS, '');
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}
