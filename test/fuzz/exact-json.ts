import { isDeepStrictEqual } from 'node:util';
import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';

export const from = 'clients and nodes';
export const covers = ['base/json.ts'];

export const seeds: readonly Uint8Array[] = [
  '{"a":[1,-0.5e+3,true,false,null,"\\u0041\\n"],"é":{}}',
  '[18446744073709551615,-9223372036854775808,9007199254740992,1234567890123456.5,1e400]',
  '{"a":18446744073709551615,"b":"18446744073709551615","\\ue0f11":"x:1234567890123456789,"}',
  ' 12345678901234567890123456789012345678901 ',
].map((text) => Buffer.from(text));

/** The value with every integer rounded, as JSON.parse has it. */
function rounded(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(rounded);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rounded(member)]));
}

/** An integer that is kept exact. */
const isInteger = /^-?\d{1,39}$/;

/** What JSON.parse makes of a text; undefined where it is none. */
function expected(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads what JSON.parse reads, but for its rounding, and writes what it has read. */
export function fuzz(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString();
  const known = expected(text);
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError) || known !== undefined) throw error;
    return false;
  }
  if (!isDeepStrictEqual(rounded(value), rounded(known as JsonValue)))
    throw new Error('reads something else');
  const again = parseJson(writeJson(value));
  // A whole number of more than sixteen digits that was no integer is written as one, of the same value.
  const isSame = isDeepStrictEqual(rounded(again), rounded(value)) || /e\d{3}|\d{300}|-0/i.test(text);
  if (!isSame) throw new Error('writes something else than it has read');
  if (isInteger.test(text.trim()) && writeJson(value) !== text.trim().replace(/^-0$/, '0'))
    throw new Error('writes another integer');
  return true;
}
