import type { JsonValue } from '../../base/json.ts';
import { floatText } from '../../base/text/float-decimal.ts';
import { U64_MAX } from '../../solana/units.ts';
import { invalidParams, type RpcError } from '../rpc-error.ts';

/** Readers that report errors as Rust's serde_json does in Agave: -32602 "Invalid params: <serde's message>.". */

export type JsonObject = { readonly [name: string]: JsonValue };

/** Source: jsonrpc_core `Params::parse`. */
export const serdeFault = (text: string): RpcError => invalidParams(`Invalid params: ${text}.`);

const ECHO_MAX_LENGTH = 256;

const DEBUG_MAX_LENGTH = 4_096;

const truncateTo = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length)}…`;
const truncateEcho = (text: string): string => truncateTo(text, ECHO_MAX_LENGTH);

/** Formats a string like Rust's `{:?}`. Exact only for common characters. */
const rustDebug = (text: string): string =>
  JSON.stringify(text).replace(/\\u([0-9a-f]{4})/g, (_all, hex: string) => {
    const short = hex.replace(/^0+/, '');
    return short === '' ? '\\0' : `\\u{${short}}`;
  });

const isU64 = (value: number | bigint): boolean => value >= 0 && BigInt(value) <= U64_MAX;
const isI64 = (value: number | bigint): boolean => value < 0 && BigInt(value) >= -0x8000_0000_0000_0000n;

/** Whether serde_json represents the number as an integer rather than an f64. */
const isInteger = (value: number | bigint): boolean =>
  (typeof value === 'bigint' || Number.isSafeInteger(value)) && (isU64(value) || isI64(value));

/** Source: serde `Unexpected`, serde_json `JsonUnexpected`. */
export function unexpected(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return `string ${rustDebug(truncateEcho(value))}`;
    case 'boolean':
      return `boolean \`${value}\``;
    case 'number':
    case 'bigint':
      return isInteger(value) ? `integer \`${value}\`` : `floating point \`${floatText(Number(value))}\``;
  }
  if (value === null) return 'null';
  return Array.isArray(value) ? 'sequence' : 'map';
}

export const unknownField = (name: string, expected: string): RpcError =>
  serdeFault(`unknown field \`${truncateEcho(name)}\`, expected ${expected}`);

export const wrongType = (value: JsonValue, expected: string): RpcError =>
  serdeFault(`invalid type: ${unexpected(value)}, expected ${expected}`);

export type Read<T> = (value: JsonValue) => T;

/** Equivalent of serde's `Option<T>`. */
export const optional = <T>(value: JsonValue | undefined, read: Read<T>): T | null =>
  value === undefined || value === null ? null : read(value);

export const member = (object: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

export const optionalMember = <T>(object: JsonObject, name: string, read: Read<T>): T | null =>
  optional(member(object, name), read);

/** null counts as present, as in serde. */
export function required<T>(object: JsonObject, name: string, read: Read<T>): T {
  const value = member(object, name);
  if (value === undefined) throw serdeFault(`missing field \`${name}\``);
  return read(value);
}

export function readString(value: JsonValue): string {
  if (typeof value !== 'string') throw wrongType(value, 'a string');
  return value;
}

export function readBoolean(value: JsonValue): boolean {
  if (typeof value !== 'boolean') throw wrongType(value, 'a boolean');
  return value;
}

/** Reads a boolean with serde's `default`: absent means false, null is an error. */
export function readFlag(object: JsonObject, name: string): boolean {
  const value = member(object, name);
  return value === undefined ? false : readBoolean(value);
}

function readUnsigned(value: JsonValue, max: bigint, expected: string): bigint {
  if ((typeof value !== 'number' && typeof value !== 'bigint') || !isInteger(value)) {
    throw wrongType(value, expected);
  }
  const integer = BigInt(value);
  if (integer < 0n || integer > max) {
    throw serdeFault(`invalid value: integer \`${integer}\`, expected ${expected}`);
  }
  return integer;
}

export const readU64: Read<bigint> = (value) => readUnsigned(value, U64_MAX, 'u64');

export const readUsize: Read<bigint> = (value) => readUnsigned(value, U64_MAX, 'usize');

export const readU8: Read<number> = (value) => Number(readUnsigned(value, 0xffn, 'u8'));

export function readArray<T>(value: JsonValue, read: Read<T>): T[] {
  if (!Array.isArray(value)) throw wrongType(value, 'a sequence');
  return value.map(read);
}

export const readStrings: Read<string[]> = (value) => readArray(value, readString);

/** Reads a Rust struct that has a flattened member. For such structs, serde rejects arrays. */
export function readObject(value: JsonValue, struct: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrongType(value, `struct ${struct}`);
  }
  return value;
}

/** Reads a Rust struct without flattened members. serde also accepts such a struct as an array of its fields. */
export function readPlainStruct(value: JsonValue, struct: string, fields: readonly string[]): JsonObject {
  if (!Array.isArray(value)) return readObject(value, struct);
  const size = `struct ${struct} with ${fields.length} element${fields.length === 1 ? '' : 's'}`;
  if (value.length < fields.length) throw serdeFault(`invalid length ${value.length}, expected ${size}`);
  if (value.length > fields.length) {
    throw serdeFault(`invalid length ${value.length}, expected fewer elements in array`);
  }
  return Object.fromEntries(fields.map((field, i) => [field, value[i] ?? null]));
}

function oneOf(variants: readonly string[]): string {
  const quoted = variants.map((variant) => `\`${variant}\``);
  if (quoted.length === 1) return `${quoted[0]}`;
  return quoted.length === 2 ? quoted.join(' or ') : `one of ${quoted.join(', ')}`;
}

export type Tagged<Name extends string> = Readonly<{ variant: Name; payload: JsonValue | undefined }>;

function tagOf(value: JsonValue): [name: string, payload: JsonValue | undefined] {
  if (typeof value === 'string') return [value, undefined];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrongType(value, 'string or map');
  }
  const [only, ...others] = Object.entries(value);
  if (only === undefined || others.length > 0) {
    throw serdeFault('invalid value: map, expected map with a single key');
  }
  return only;
}

/** Reads a bare name, or an object with the name as its only key. @param variants - in the order of the Rust enum. */
export function readTagged<const Name extends string>(
  value: JsonValue,
  variants: readonly Name[],
): Tagged<Name> {
  const [name, payload] = tagOf(value);
  const variant = variants.find((known) => known === name);
  if (variant === undefined)
    throw serdeFault(`unknown variant \`${truncateEcho(name)}\`, expected ${oneOf(variants)}`);
  return { variant, payload };
}

export function payloadOf<T>(tagged: Tagged<string>, read: Read<T>): T {
  if (tagged.payload === undefined) throw serdeFault('invalid type: unit variant, expected newtype variant');
  return read(tagged.payload);
}

export function withoutPayload<Name extends string>({ variant, payload }: Tagged<Name>): Name {
  if (payload !== undefined && payload !== null) throw wrongType(payload, 'unit');
  return variant;
}

/** @param variants - in the order of the Rust enum. */
export const readVariant = <const Name extends string>(value: JsonValue, variants: readonly Name[]): Name =>
  withoutPayload(readTagged(value, variants));

function debugValue(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return `String(${rustDebug(value)})`;
    case 'boolean':
      return `Bool(${value})`;
    case 'number':
    case 'bigint':
      return `Number(${isInteger(value) ? value : floatText(Number(value))})`;
  }
  if (value === null) return 'Null';
  return Array.isArray(value) ? `Array ${debugArray(value)}` : `Object ${debugObject(value)}`;
}

const debugArray = (value: readonly JsonValue[]): string => `[${value.map(debugValue).join(', ')}]`;

const debugObject = (value: JsonObject): string =>
  `{${Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => `${rustDebug(name)}: ${debugValue(inner)}`)
    .join(', ')}}`;

/** Formats params like Rust's `{:?}` of jsonrpc_core's `Params`, for the `data` of some errors. */
export function debugParams(params: readonly JsonValue[] | JsonObject): string {
  const text = Array.isArray(params)
    ? `Array(${debugArray(params)})`
    : `Map(${debugObject(params as JsonObject)})`;
  return truncateTo(text, DEBUG_MAX_LENGTH);
}
