import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson } from '../../base/json.ts';
import { RpcError } from '../rpc-error.ts';
import {
  debugParams,
  optional,
  payloadOf,
  readArray,
  readBoolean,
  readPlainStruct,
  readString,
  readTagged,
  readU8,
  readU64,
  readVariant,
  required,
  unexpected,
} from './serde.ts';

function faultOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof RpcError && error.code === -32602) return error.message;
    throw error;
  }
  throw new Error('nothing was thrown');
}

it.each<[string, string]>([
  ['18446744073709551615', 'integer `18446744073709551615`'],
  ['18446744073709551616', 'floating point `1.8446744073709552e+19`'],
  ['-9223372036854775808', 'integer `-9223372036854775808`'],
  ['1.5', 'floating point `1.5`'],
  ['"a\\"b\\n"', 'string "a\\"b\\n"'],
  ['"\\u0007"', 'string "\\u{7}"'],
  ['"\\u0000"', 'string "\\0"'],
  ['true', 'boolean `true`'],
  ['null', 'null'],
  ['[1]', 'sequence'],
  ['{"a":1}', 'map'],
])('the unexpected value %s is described like in serde_json', (text, name) => {
  expect(unexpected(parseJson(text))).toBe(name);
});

describe('readers', () => {
  it.each<[string, () => unknown, string]>([
    ['a string', () => readString(5), 'invalid type: integer `5`, expected a string'],
    ['a boolean', () => readBoolean('x'), 'invalid type: string "x", expected a boolean'],
    ['a negative u64', () => readU64(-1), 'invalid value: integer `-1`, expected u64'],
    ['a fraction', () => readU64(1.5), 'invalid type: floating point `1.5`, expected u64'],
    ['a u8', () => readU8(256), 'invalid value: integer `256`, expected u8'],
    ['a member', () => required({}, 'offset', readU64), 'missing field `offset`'],
    ['a name', () => readVariant('x', ['a', 'b', 'c']), 'unknown variant `x`, expected one of `a`, `b`, `c`'],
    ['one of two', () => readVariant('x', ['a', 'b']), 'unknown variant `x`, expected `a` or `b`'],
    ['a full name', () => readVariant({ a: 5 }, ['a']), 'invalid type: integer `5`, expected unit'],
    ['no key', () => readTagged({}, ['a']), 'invalid value: map, expected map with a single key'],
    [
      'a long struct',
      () => readPlainStruct([1, 2, 3], 'Pair', ['a', 'b']),
      'invalid length 3, expected fewer elements in array',
    ],
  ])('reject %s with the message of serde', (_what, run, text) => {
    expect(faultOf(run)).toBe(`Invalid params: ${text}.`);
  });

  it('accept valid values', () => {
    expect(readU64(18446744073709551615n)).toBe(18446744073709551615n);
    expect(readU8(255)).toBe(255);
    expect(readArray([true, false], readBoolean)).toEqual([true, false]);
    expect(readVariant({ a: null }, ['a'])).toBe('a');
    expect(readPlainStruct([1, 2], 'Pair', ['a', 'b'])).toEqual({ a: 1, b: 2 });
    expect(payloadOf(readTagged({ size: 5 }, ['size']), readU64)).toBe(5n);
    expect(optional(null, readString)).toBeNull();
    expect(optional(undefined, readString)).toBeNull();
  });

  it('ignore inherited members', () => {
    expect(faultOf(() => required({}, 'constructor', readString))).toBe(
      'Invalid params: missing field `constructor`.',
    );
  });

  it('return every u64 exactly', () => {
    fc.assert(fc.property(fc.bigInt(0n, 2n ** 64n - 1n), (n) => readU64(parseJson(String(n))) === n));
  });
});

describe('the debug text of parameters', () => {
  it.each<[JsonValue[] | { [name: string]: JsonValue }, string]>([
    [[5, 'x', null, true, 1.5], 'Array([Number(5), String("x"), Null, Bool(true), Number(1.5)])'],
    [[[1], { b: 1, a: 'y' }], 'Array([Array [Number(1)], Object {"a": String("y"), "b": Number(1)}])'],
    [{ a: 1 }, 'Map({"a": Number(1)})'],
  ])('of %j matches Rust', (params, text) => {
    expect(debugParams(params)).toBe(text);
  });

  it('is truncated, as are long values in errors', () => {
    const long = '\u0001'.repeat(1_000_000);
    expect(faultOf(() => readU64(long)).length).toBeLessThan(2_500);
    expect(faultOf(() => readVariant(long, ['a'])).length).toBeLessThan(500);
    expect(debugParams([long]).length).toBeLessThan(5_000);
    expect(faultOf(() => readU64('x'.repeat(256)))).toContain(`"${'x'.repeat(256)}"`);
  });
});
