import type { JsonValue, WritableJson } from '../base/json.ts';
import { type Address, parseAddress } from '../solana/address.ts';
import type { JsonMembers } from '../solana/encoding/read-json.ts';
import { U64_MAX } from '../solana/units.ts';

// Lenient readers for node responses and untrusted documents: a missing or malformed value becomes null or empty.

const U64_TEXT = /^\d{1,20}$/;
const DECIMALS_MAX = 255;

type LenientInput = JsonValue | WritableJson;

/** Members of an object; empty for anything else. Do not look up inherited names such as "constructor". */
export function membersOf(value: LenientInput): JsonMembers {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonMembers) : {};
}

export function itemsOf(value: LenientInput, itemsMax?: number): readonly JsonValue[] {
  if (!Array.isArray(value)) return [];
  return itemsMax === undefined ? value : value.slice(0, itemsMax);
}

/** Truncates a string to `lengthMax` UTF-16 code units; empty for any other value. */
export const textOf = (value: LenientInput, lengthMax: number): string =>
  typeof value === 'string' ? value.slice(0, lengthMax).toWellFormed() : '';

export const textWithin = (value: LenientInput, lengthMax: number): string =>
  typeof value === 'string' && value.length <= lengthMax ? value.toWellFormed() : '';

export function addressOf(value: LenientInput): Address | null {
  if (typeof value !== 'string') return null;
  const parsed = parseAddress(value);
  return 'address' in parsed ? parsed.address : null;
}

export const countOf = (value: LenientInput, max: number): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max ? value : null;

export const decimalsOf = (value: LenientInput): number | null => countOf(value, DECIMALS_MAX);

export function integerOf(value: LenientInput): bigint | null {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null;
}

export function u64Of(value: LenientInput): bigint | null {
  const amount = typeof value === 'string' && U64_TEXT.test(value) ? BigInt(value) : integerOf(value);
  return amount !== null && amount >= 0n && amount <= U64_MAX ? amount : null;
}

export function isNestedAtMost(value: JsonValue, depthMax: number): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (depthMax === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isNestedAtMost(item, depthMax - 1));
  for (const name in value) if (!isNestedAtMost(value[name] as JsonValue, depthMax - 1)) return false;
  return true;
}
