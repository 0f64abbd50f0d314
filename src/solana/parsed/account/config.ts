import { RawJson } from '../../../base/json.ts';
import { floatText } from '../../../base/text/float-decimal.ts';
import { type Address, address } from '../../address.ts';
import { InvalidEncoding, pubkey, readOrNull } from '../../codec.ts';
import { readShortVec } from '../../short-vec.ts';
import { U64_MAX } from '../../units.ts';
import { readBool, readText } from '../bincode.ts';
import type { AccountParts } from './parsed-account.ts';

/** serde_json's recursion limit. */
const DEPTH_MAX = 128;

const I64_MIN = -(2n ** 63n);

class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = NumberText | string | boolean | null | readonly Value[] | { readonly [name: string]: Value };

/** Nesting depth of brackets outside strings; the text need not be valid JSON. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, ++depth);
    else if (token === ']' || token === '}') depth--;
  }
  return deepest;
}

/** Keeps 64-bit integers; other numbers become f64. */
function numberText(source: string): string {
  if (/^-?\d+$/.test(source) && source !== '-0') {
    const integer = BigInt(source);
    if (integer <= U64_MAX && integer >= I64_MIN) return String(integer);
  }
  const value = Number(source);
  if (!Number.isFinite(value)) throw new InvalidEncoding('number out of range');
  return floatText(value);
}

function reviveNumber(_name: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? new NumberText(numberText(context?.source ?? String(value))) : value;
}

function stringText(value: string): string {
  if (!value.isWellFormed()) throw new InvalidEncoding('lone surrogate');
  return JSON.stringify(value);
}

const byUtf8 = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function serialize(value: Value): string {
  if (value instanceof NumberText) return value.text;
  if (typeof value === 'string') return stringText(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(serialize).join(',')}]`;
  const members = value as { readonly [name: string]: Value };
  const names = Object.keys(members).sort(byUtf8);
  return `{${names.map((name) => `${stringText(name)}:${serialize(members[name] as Value)}`).join(',')}}`;
}

/**
 * Like `serde_json::Value`: sorts members, keeps the last duplicate and writes floats with a decimal point.
 * @throws InvalidEncoding if serde_json would reject the text.
 */
function reserialize(text: string): string {
  if (depthOf(text) >= DEPTH_MAX) throw new InvalidEncoding('nested too deeply');
  let value: Value;
  try {
    value = JSON.parse(text, reviveNumber) as Value;
  } catch (error) {
    if (error instanceof SyntaxError) throw new InvalidEncoding('not JSON');
    throw error;
  }
  return serialize(value);
}

/** Source: account-decoder/src/validator_info.rs */
const VALIDATOR_INFO: Address = address('Va1idator1nfo111111111111111111111111111111');

/** Agave 4.1 and later do not parse the stake configuration. Source: account-decoder/src/parse_config.rs. */
export function parseConfig(data: Uint8Array): AccountParts | null {
  return readOrNull(data, (reader) => {
    const keys = Array.from({ length: readShortVec(reader) }, () => ({
      pubkey: pubkey.read(reader),
      signer: readBool(reader),
    }));
    if (keys[0]?.pubkey !== VALIDATOR_INFO) return null;
    const configData = new RawJson(reserialize(readText(reader)));
    return { type: 'validatorInfo', info: { configData, keys } };
  });
}
