import type { JsonValue, WritableJson } from '../base/json.ts';
import { type Address, parseAddress } from '../solana/address.ts';
import type { JsonMembers } from '../solana/encoding/read-json.ts';
import { U64_MAX } from '../solana/units.ts';

/**
 * Readers of what nodes tell, and of documents that strangers wrote. They are shown for what is there of them: a member
 * that is missing or has another form is left out, and hides nothing else.
 */

const U64_TEXT = /^\d{1,20}$/;
/** Decimals of a mint are a u8. */
const DECIMALS_MAX = 255;

/** Any value that came over the wire, or was made for it; undefined for one that is not there. */
type Given = JsonValue | WritableJson;

/** The members of an object; of anything else none. Never look for a name that every object inherits. */
export function membersOf(value: Given): JsonMembers {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonMembers) : {};
}

/** The items of a list, at most so many; of anything else none. */
export function itemsOf(value: Given, itemsMax?: number): readonly JsonValue[] {
  if (!Array.isArray(value)) return [];
  return itemsMax === undefined ? value : value.slice(0, itemsMax);
}

/** Text, cut to so many characters (UTF-16 units); empty for what is none. */
export const textOf = (value: Given, charactersMax: number): string =>
  typeof value === 'string' ? value.slice(0, charactersMax).toWellFormed() : '';

/** Text that means nothing when it is cut, such as a URI; empty for what is none, or longer. */
export const wholeTextOf = (value: Given, charactersMax: number): string =>
  typeof value === 'string' && value.length <= charactersMax ? value.toWellFormed() : '';

/** An address, or null. */
export function addressOf(value: Given): Address | null {
  if (typeof value !== 'string') return null;
  const parsed = parseAddress(value);
  return 'address' in parsed ? parsed.address : null;
}

/** A whole number from 0 to `most`, or null. */
export const naturalOf = (value: Given, most: number): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most ? value : null;

/** Decimals of a mint, or null. */
export const decimalsOf = (value: Given): number | null => naturalOf(value, DECIMALS_MAX);

/** A whole number of any sign, or null. */
export function wholeOf(value: Given): bigint | null {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null;
}

/** A u64, as a number or as text, or null. */
export function amountOf(value: Given): bigint | null {
  const amount = typeof value === 'string' && U64_TEXT.test(value) ? BigInt(value) : wholeOf(value);
  return amount !== null && amount >= 0n && amount <= U64_MAX ? amount : null;
}

/** Whether a value nests no deeper than so many lists and objects in one another. */
export function isShallow(value: JsonValue, depth: number): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isShallow(item, depth - 1));
  for (const name in value) if (!isShallow(value[name] as JsonValue, depth - 1)) return false;
  return true;
}
