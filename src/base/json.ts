import { floatText } from './text/float-decimal.ts';

/** JSON with exact integers: `JSON.parse` rounds large u64 values, and `JSON.stringify` rejects bigint. */

export class Float64 {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Integers outside ±(2^53-1) with at most 40 characters become a bigint; all other numbers become a number. */
export type JsonValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | JsonValue[]
  | { [name: string]: JsonValue };

/** Undefined members are omitted. */
export type WritableJson =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Float64
  | RawJson
  | readonly WritableJson[]
  | { readonly [name: string]: WritableJson };

const INTEGER = /^-?\d+$/;
/** Longer integers stay numbers: parsing a bigint of a million digits takes as long as thousands of calls. */
const INTEGER_MAX_LENGTH = 40;
/** Matches a possible long integer where a value may start. Does not match most digits in strings. */
const LONG_INTEGER = /(?:^|[[,:\s])-?\d{16}/;

function exactInteger(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  if (source === undefined || source.length > INTEGER_MAX_LENGTH) return value;
  return INTEGER.test(source) ? BigInt(source) : value;
}

/** Prefix of long integers while they are represented as strings. Texts that contain the mark take the slow path. */
const MARK = '\ue0f1';
/** Matches the mark, plain or escaped. */
const MARKED = /\ue0f1|\\ue0f1/i;

/** Matches long integers used as values. Replacing one inside a string makes the text invalid, which is detected. */
const LONG_INTEGERS = /(^\s*|[[,:]\s*)([1-9]\d{15,39}|-[1-9]\d{15,38})(?=\s*(?:[,\]}]|$))/g;

type Container = JsonValue[] | { [name: string]: JsonValue };

const isContainer = (value: JsonValue): value is Container => typeof value === 'object' && value !== null;

function unmarked(text: string): number | bigint {
  const value = Number(text.slice(MARK.length));
  return Number.isSafeInteger(value) ? value : BigInt(text.slice(MARK.length));
}

/** Replaces marked strings with integers. Iterative, because node responses may be deeply nested. */
function restoreIntegers(root: JsonValue): JsonValue {
  if (typeof root === 'string' && root.startsWith(MARK)) return unmarked(root);
  const open: Container[] = isContainer(root) ? [root] : [];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    const members = container as { [name: string]: JsonValue };
    for (const name in members) {
      const value = members[name] as JsonValue;
      if (typeof value === 'string') {
        if (value.startsWith(MARK)) members[name] = unmarked(value);
      } else if (isContainer(value)) open.push(value);
    }
  }
  return root;
}

/** Replaces long integers with marked strings, because calling a reviver for every value takes ten times as long. */
function parseMarked(text: string): JsonValue | undefined {
  if (MARKED.test(text)) return undefined;
  try {
    return restoreIntegers(JSON.parse(text.replace(LONG_INTEGERS, `$1"${MARK}$2"`)));
  } catch {
    return undefined;
  }
}

/** Parses JSON without rounding integers of up to 40 characters. @throws SyntaxError */
export function parseJson(text: string): JsonValue {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text);
  return parseMarked(text) ?? JSON.parse(text, exactInteger);
}

function writeObject(value: { readonly [name: string]: WritableJson }): string {
  let text = '{';
  for (const name in value) {
    const member = value[name];
    if (member === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${JSON.stringify(name)}:${writeJson(member)}`;
  }
  return `${text}}`;
}

function writeArray(value: readonly WritableJson[]): string {
  let text = '[';
  for (let i = 0; i < value.length; i++) {
    if (i > 0) text += ',';
    text += writeJson(value[i]);
  }
  return `${text}]`;
}

/** Encodes a value: bigint as an integer, undefined as null. */
export function writeJson(value: WritableJson): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null';
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'undefined':
      return 'null';
  }
  if (value === null) return 'null';
  if (Array.isArray(value)) return writeArray(value);
  if (value instanceof Float64) return Number.isFinite(value.value) ? floatText(value.value) : 'null';
  if (value instanceof RawJson) return value.text;
  return writeObject(value as { readonly [name: string]: WritableJson });
}
