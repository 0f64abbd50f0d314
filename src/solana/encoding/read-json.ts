import type { JsonValue } from '../../base/json.ts';
import { U64_MAX } from '../units.ts';

/** The message names the member but never contains its value. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
  constructor(what: string) {
    super(`not ${what}`);
  }
}

export type JsonMembers = { readonly [name: string]: JsonValue | undefined };

export function objectOf(value: JsonValue | undefined, what: string): JsonMembers {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new MalformedJson(what);
  return value;
}

export function listOf(value: JsonValue | undefined, what: string): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new MalformedJson(what);
  return value;
}

export function stringOf(value: JsonValue | undefined, what: string): string {
  if (typeof value !== 'string') throw new MalformedJson(what);
  return value;
}

/** Exact if the JSON was parsed by `parseJson`. */
export function integerOf(value: JsonValue | undefined, what: string): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new MalformedJson(what);
  return BigInt(value);
}

export function u64Of(value: JsonValue | undefined, what: string): bigint {
  const integer = integerOf(value, what);
  if (integer < 0n || integer > U64_MAX) throw new MalformedJson(what);
  return integer;
}

export function u8Of(value: JsonValue | undefined, what: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 255) {
    throw new MalformedJson(what);
  }
  return value;
}

export function orNull<T>(value: JsonValue | undefined, read: (value: JsonValue) => T): T | null {
  return value === undefined || value === null ? null : read(value);
}
