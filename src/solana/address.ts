import type { Brand } from '../base/brand.ts';
import { decodeBase58, encodeBase58 } from './base58.ts';

/** A 32-byte public key or program address, as base58 text. */
export type Address = Brand<string, 'Address'>;

export const ADDRESS_BYTES = 32;
/** 32 bytes never need more base58 characters than this. */
export const ADDRESS_TEXT_MAX = 44;

/** Why a text is not an address; the words are Agave's (`ParsePubkeyError`). */
export type AddressFault = 'Invalid' | 'WrongSize';

/** The address in a base58 text, or what is wrong with the text. */
export function parseAddress(text: string): { address: Address } | { fault: AddressFault } {
  if (text.length > ADDRESS_TEXT_MAX) return { fault: 'WrongSize' };
  const bytes = decodeBase58(text);
  if (bytes === null) return { fault: 'Invalid' };
  return bytes.length === ADDRESS_BYTES ? { address: text as Address } : { fault: 'WrongSize' };
}

/**
 * The address whose text the program itself wrote.
 * @throws RangeError when it is none: a defect in the program, not in its input.
 */
export function address(text: string): Address {
  const parsed = parseAddress(text);
  if ('fault' in parsed) throw new RangeError(`not an address: ${text}`);
  return parsed.address;
}

/** The address of 32 bytes. */
export function addressFromBytes(bytes: Uint8Array): Address {
  if (bytes.length !== ADDRESS_BYTES) throw new RangeError(`an address has 32 bytes, not ${bytes.length}`);
  return encodeBase58(bytes) as Address;
}

/** The 32 bytes of an address. */
export function addressBytes(value: Address): Uint8Array {
  const bytes = decodeBase58(value);
  if (bytes === null) throw new RangeError(`not an address: ${value}`);
  return bytes;
}
