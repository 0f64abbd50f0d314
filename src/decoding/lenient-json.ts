import type { JsonValue, WritableJson } from '../base/json.ts';
import { type Address, parseAddress } from '../solana/address.ts';
import type { JsonMembers } from '../solana/encoding/read-json.ts';
import { U64_MAX } from '../solana/units.ts';

/** Lenient readers for node responses and untrusted documents: a missing or malformed member is left out. */

const U64_TEXT = /^\d{1,20}$/;
const DECIMALS_MAX = 255;

type LenientInput = JsonValue | WritableJson;

/** Members of an object; empty for anything else. Do not look up names that every object inherits. */
export function membersOf(value: LenientInput): JsonMembers {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonMembers) : {};
}

export function itemsOf(value: LenientInput, itemsMax?: number): readonly JsonValue[] {
  if (!Array.isArray(value)) return [];
  return itemsMax === undefined ? value : value.slice(0, itemsMax);
}

/** Text cut to `charactersMax` UTF-16 units; empty for anything else. */
export const textOf = (value: LenientInput, charactersMax: number): string =>
  typeof value === 'string' ? value.slice(0, charactersMax).toWellFormed() : '';

export const wholeTextOf = (value: LenientInput, charactersMax: number): string =>
  typeof value === 'string' && value.length <= charactersMax ? value.toWellFormed() : '';

export function addressOf(value: LenientInput): Address | null {
  if (typeof value !== 'string') return null;
  const parsed = parseAddress(value);
  return 'address' in parsed ? parsed.address : null;
}

export const naturalOf = (value: LenientInput, most: number): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most ? value : null;

export const decimalsOf = (value: LenientInput): number | null => naturalOf(value, DECIMALS_MAX);

export function wholeOf(value: LenientInput): bigint | null {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null;
}

export function amountOf(value: LenientInput): bigint | null {
  const amount = typeof value === 'string' && U64_TEXT.test(value) ? BigInt(value) : wholeOf(value);
  return amount !== null && amount >= 0n && amount <= U64_MAX ? amount : null;
}

export function isShallow(value: JsonValue, depth: number): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isShallow(item, depth - 1));
  for (const name in value) if (!isShallow(value[name] as JsonValue, depth - 1)) return false;
  return true;
}
