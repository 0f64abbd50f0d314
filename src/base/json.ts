import { floatText } from './text/float-text.ts';

/**
 * JSON in which integers are exact. `JSON.parse` rounds above 2^53 and `JSON.stringify` refuses bigint; a u64
 * must survive both ways.
 */

/** A number that is written with a decimal point even when it is whole, as serde_json writes an f64. */
export class Float64 {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** JSON text that is already encoded and is copied as it stands. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What `parseJson` gives. Integers outside ±(2^53-1) of up to 40 characters are bigint, all other numbers are number. */
export type JsonValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | JsonValue[]
  | { [name: string]: JsonValue };

/** What `writeJson` takes. Members whose value is undefined are left out. */
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
/** Longer integers are nobody's: making a bigint of a million digits takes the time of thousands of calls. */
const INTEGER_MAX_LENGTH = 40;
/** An integer that may be too long for a double, where a number may stand: most long digits are inside strings. */
const LONG_INTEGER = /(?:^|[[,:\s])-?\d{16}/;

function exactInteger(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  if (source === undefined || source.length > INTEGER_MAX_LENGTH) return value;
  return INTEGER.test(source) ? BigInt(source) : value;
}

/** Stands before the digits of a long integer while it is a string; a text that has it takes the slow way. */
const MARK = '\ue0f1';
/** The mark as it is, or escaped. */
const MARKED = /\ue0f1|\\ue0f1/i;

/** Long integers where a value stands. One that is inside a string breaks it, which is noticed. */
const LONG_INTEGERS = /(^\s*|[[,:]\s*)([1-9]\d{15,39}|-[1-9]\d{15,38})(?=\s*(?:[,\]}]|$))/g;

type Container = JsonValue[] | { [name: string]: JsonValue };

const isContainer = (value: JsonValue): value is Container => typeof value === 'object' && value !== null;

function unmarked(text: string): number | bigint {
  const value = Number(text.slice(MARK.length));
  return Number.isSafeInteger(value) ? value : BigInt(text.slice(MARK.length));
}

/** Puts integers back where marked strings stand. Not by recursion: what nodes send may be deep. */
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

/** A reviver is called for every value there is, which takes ten times as long as parsing. */
function parseMarked(text: string): JsonValue | undefined {
  if (MARKED.test(text)) return undefined;
  try {
    return restoreIntegers(JSON.parse(text.replace(LONG_INTEGERS, `$1"${MARK}$2"`)));
  } catch {
    return undefined;
  }
}

/**
 * Parses JSON text without rounding integers.
 * @throws SyntaxError when the text is not JSON.
 */
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

/** JSON text of a value; bigint is written as the integer it is, undefined as null. */
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
