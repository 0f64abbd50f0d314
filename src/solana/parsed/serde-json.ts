import { floatText } from '../../base/text/float-decimal.ts';
import { U64_MAX } from '../units.ts';
import { Undecodable } from './bincode.ts';

/** Arrays and objects in one another; from here on serde_json refuses. */
const DEPTH_MAX = 128;

const I64_MIN = -(2n ** 63n);

/** A number of the text, already as it will be written. */
class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = NumberText | string | boolean | null | readonly Value[] | { readonly [name: string]: Value };

/** How deep the text nests, whether it is JSON or not; brackets inside strings do not count. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, ++depth);
    else if (token === ']' || token === '}') depth--;
  }
  return deepest;
}

/** An integer of 64 bits stays one; every other number becomes an f64. */
function numberText(source: string): string {
  if (/^-?\d+$/.test(source) && source !== '-0') {
    const integer = BigInt(source);
    if (integer <= U64_MAX && integer >= I64_MIN) return String(integer);
  }
  const value = Number(source);
  if (!Number.isFinite(value)) throw new Undecodable('number out of range');
  return floatText(value);
}

function revived(_name: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? new NumberText(numberText(context?.source ?? String(value))) : value;
}

function stringText(value: string): string {
  if (!value.isWellFormed()) throw new Undecodable('half of a surrogate pair');
  return JSON.stringify(value);
}

const byUtf8 = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function written(value: Value): string {
  if (value instanceof NumberText) return value.text;
  if (typeof value === 'string') return stringText(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
  const members = value as { readonly [name: string]: Value };
  const names = Object.keys(members).sort(byUtf8);
  return `{${names.map((name) => `${stringText(name)}:${written(members[name] as Value)}`).join(',')}}`;
}

/**
 * JSON as it comes out of a node that read it into a `serde_json::Value`: members sorted, of two of one name the
 * last, floats with a point.
 *
 * @throws Undecodable when the text is not JSON, or is JSON that serde_json refuses
 */
export function reserialized(text: string): string {
  if (depthOf(text) >= DEPTH_MAX) throw new Undecodable('nested too deeply');
  let value: Value;
  try {
    value = JSON.parse(text, revived) as Value;
  } catch (error) {
    if (error instanceof SyntaxError) throw new Undecodable('not JSON');
    throw error;
  }
  return written(value);
}
