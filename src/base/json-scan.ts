/**
 * Validating scanner for JSON bytes. Locates values without parsing them, so that they can be forwarded byte
 * for byte. Accepts what `JSON.parse` accepts, up to a depth limit. The caller must reject invalid UTF-8 first.
 * `skip…` and `scan…` functions take an offset and return the offset after the scanned text, or `MALFORMED`.
 */

/** Returned for invalid JSON and for JSON that is nested too deeply. */
export const MALFORMED = -1;

type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const ARRAY_OPEN = 0x5b;
const ARRAY_CLOSE = 0x5d;
const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

export function skipSpace(bytes: Uint8Array, at: number): number {
  for (;;) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at++;
  }
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

const isHexDigit = (byte: number | undefined): boolean =>
  byte !== undefined && (isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66));

function skipDigits(bytes: Uint8Array, at: number): number {
  const start = at;
  for (let byte = bytes[at]; byte !== undefined && byte >= ZERO && byte <= NINE; byte = bytes[++at]);
  return at === start ? MALFORMED : at;
}

function skipNumber(bytes: Uint8Array, at: number): number {
  if (bytes[at] === MINUS) at++;
  at = bytes[at] === ZERO ? at + 1 : skipDigits(bytes, at);
  if (at !== MALFORMED && bytes[at] === POINT) at = skipDigits(bytes, at + 1);
  if (at === MALFORMED) return MALFORMED;
  const exponent = bytes[at];
  if (exponent !== 0x65 && exponent !== 0x45) return at;
  const sign = bytes[at + 1];
  return skipDigits(bytes, sign === PLUS || sign === MINUS ? at + 2 : at + 1);
}

/** Skips one escape sequence. */
function skipEscape(bytes: Uint8Array, at: number): number {
  switch (bytes[at + 1]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2;
    case 0x75: // u and four hexadecimal digits
      for (let digit = at + 2; digit < at + 6; digit++) if (!isHexDigit(bytes[digit])) return MALFORMED;
      return at + 6;
    default:
      return MALFORMED;
  }
}

export function skipString(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return MALFORMED;
  const end = bytes.length;
  at++;
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) {
      at = skipEscape(bytes, at);
      if (at === MALFORMED) return MALFORMED;
    } else if (byte < 0x20) {
      return MALFORMED;
    } else {
      at++;
    }
  }
  return MALFORMED;
}

function skipWord(bytes: Uint8Array, at: number, word: Uint8Array): number {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return MALFORMED;
  return at + word.length;
}

/** @param depth - maximum nesting depth of containers, counting the value itself. */
export function skipValue(bytes: Uint8Array, at: number, depth: number): number {
  switch (bytes[at]) {
    case OBJECT_OPEN:
      return scanObject(bytes, at, depth, undefined, null);
    case ARRAY_OPEN:
      return scanArray(bytes, at, depth, undefined, null);
    case QUOTE:
      return skipString(bytes, at);
    case 0x74:
      return skipWord(bytes, at, TRUE);
    case 0x66:
      return skipWord(bytes, at, FALSE);
    case 0x6e:
      return skipWord(bytes, at, NULL);
    default:
      return skipNumber(bytes, at);
  }
}

/** Receives the offsets of a member's name (without quotes, still escaped) and of its value. */
type MemberCallback<Target> = (
  target: Target,
  nameStart: number,
  nameEnd: number,
  valueStart: number,
  valueEnd: number,
) => void;

/**
 * Calls `onMember`, if it is not null, for each member in order. Duplicates are included; `JSON.parse` keeps the last.
 * @param target - passed to `onMember`, so that `onMember` need not be a closure.
 */
export function scanObject<Target>(
  bytes: Uint8Array,
  at: number,
  depth: number,
  target: Target,
  onMember: MemberCallback<Target> | null,
): number {
  if (bytes[at] !== OBJECT_OPEN || depth <= 0) return MALFORMED;
  at = skipSpace(bytes, at + 1);
  if (bytes[at] === OBJECT_CLOSE) return at + 1;
  for (;;) {
    const nameStart = at + 1;
    at = skipString(bytes, at);
    if (at === MALFORMED) return MALFORMED;
    const nameEnd = at - 1;
    at = skipSpace(bytes, at);
    if (bytes[at] !== COLON) return MALFORMED;
    const valueStart = skipSpace(bytes, at + 1);
    at = skipValue(bytes, valueStart, depth - 1);
    if (at === MALFORMED) return MALFORMED;
    if (onMember !== null) onMember(target, nameStart, nameEnd, valueStart, at);
    at = skipSpace(bytes, at);
    if (bytes[at] === OBJECT_CLOSE) return at + 1;
    if (bytes[at] !== COMMA) return MALFORMED;
    at = skipSpace(bytes, at + 1);
  }
}

/**
 * Finds members of an object by name. Reusable: results are those of the last scan. Escaped names match too. If a
 * member is repeated, the last one counts, as in `JSON.parse`.
 */
export class MemberFinder {
  /** Offsets of the values, by index of the name; `starts` is -1 if the object has no such member. */
  readonly starts: number[];
  readonly ends: number[];
  /** How often each name occurs. */
  readonly counts: number[];
  /** Number of members with other names, plus the number of repetitions. */
  extras = 0;
  readonly #names: readonly Buffer[];
  readonly #nameMaxBytes: number;
  #bytes: Buffer = NULL;

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => Buffer.from(name));
    this.#nameMaxBytes = Math.max(...names.map((name) => name.length)) * '\\u0000'.length;
    this.starts = names.map(() => -1);
    this.ends = names.map(() => -1);
    this.counts = names.map(() => 0);
  }

  /** Parameters and result are those of `scanObject`. */
  scan(bytes: Buffer, at: number, depth: number): number {
    for (let index = 0; index < this.#names.length; index++) {
      this.starts[index] = -1;
      this.counts[index] = 0;
    }
    this.extras = 0;
    this.#bytes = bytes;
    const end = scanObject(bytes, at, depth, this, MemberFinder.#onMember);
    this.#bytes = NULL;
    return end;
  }

  /** @param bytes - the scanned bytes. @returns the raw value, or null if the object has no such member. */
  valueIn(bytes: Buffer, index: number): Buffer | null {
    const start = this.starts[index] as number;
    return start < 0 ? null : bytes.subarray(start, this.ends[index]);
  }

  static #onMember(
    finder: MemberFinder,
    nameStart: number,
    nameEnd: number,
    valueStart: number,
    valueEnd: number,
  ): void {
    const index = finder.#indexOf(nameStart, nameEnd);
    if (index < 0 || finder.counts[index] !== 0) finder.extras++;
    if (index < 0) return;
    finder.counts[index] = (finder.counts[index] as number) + 1;
    finder.starts[index] = valueStart;
    finder.ends[index] = valueEnd;
  }

  #indexOf(start: number, end: number): number {
    const bytes = this.#bytes;
    for (let index = 0; index < this.#names.length; index++) {
      if (isWord(bytes, start, end, this.#names[index] as Buffer)) return index;
    }
    if (end - start > this.#nameMaxBytes || !bytes.subarray(start, end).includes(BACKSLASH)) return -1;
    const name = Buffer.from(decodeString(bytes, start, end));
    return this.#names.findIndex((each) => each.equals(name));
  }
}

/** Compares in a loop: for so few bytes, a native call takes ten times as long. */
function isWord(bytes: Buffer, start: number, end: number, word: Buffer): boolean {
  if (end - start !== word.length) return false;
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return false;
  return true;
}

type ElementCallback<Target> = (target: Target, start: number, end: number) => void;

/** Calls `onElement`, if it is not null, for each element in order. */
export function scanArray<Target>(
  bytes: Uint8Array,
  at: number,
  depth: number,
  target: Target,
  onElement: ElementCallback<Target> | null,
): number {
  if (bytes[at] !== ARRAY_OPEN || depth <= 0) return MALFORMED;
  at = skipSpace(bytes, at + 1);
  if (bytes[at] === ARRAY_CLOSE) return at + 1;
  for (;;) {
    const start = at;
    at = skipValue(bytes, start, depth - 1);
    if (at === MALFORMED) return MALFORMED;
    if (onElement !== null) onElement(target, start, at);
    at = skipSpace(bytes, at);
    if (bytes[at] === ARRAY_CLOSE) return at + 1;
    if (bytes[at] !== COMMA) return MALFORMED;
    at = skipSpace(bytes, at + 1);
  }
}

/** Kind of a well-formed value, given its first byte. */
export function kindOf(firstByte: number | undefined): JsonKind {
  switch (firstByte) {
    case OBJECT_OPEN:
      return 'object';
    case ARRAY_OPEN:
      return 'array';
    case QUOTE:
      return 'string';
    case 0x74:
    case 0x66:
      return 'boolean';
    case 0x6e:
      return 'null';
    default:
      return 'number';
  }
}

/** Whether the bytes are a single JSON value, possibly surrounded by whitespace. */
export function isJson(bytes: Uint8Array, depth: number): boolean {
  const end = skipValue(bytes, skipSpace(bytes, 0), depth);
  return end !== MALFORMED && skipSpace(bytes, end) === bytes.length;
}

/** Decodes a scanned string. @param start - offset after the opening quote. @param end - that of the closing quote. */
export function decodeString(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}
