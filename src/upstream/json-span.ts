/**
 * Finds where a JSON value ends, checking it on the way (RFC 8259), without building it. For answers whose
 * members stand in an unusual order.
 */

/** Deeper than any answer of a node nests; bounds the recursion. */
const DEPTH_MAX = 256;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const LETTER_E = 0x65;

const ESCAPED = new Set(Buffer.from('"\\/bfnrt'));

/** The offset of the first byte at or after `at` that is not JSON white space. */
export function skipSpace(bytes: Buffer, at: number): number {
  let i = at;
  while (bytes[i] === 0x20 || bytes[i] === 0x0a || bytes[i] === 0x0d || bytes[i] === 0x09) i++;
  return i;
}

function isHex4(bytes: Buffer, at: number): boolean {
  return /^[0-9a-fA-F]{4}$/.test(bytes.toString('latin1', at, Math.min(at + 4, bytes.length)));
}

/** End of the string whose opening quote stands at `at`, or -1. */
export function stringEnd(bytes: Buffer, at: number): number {
  for (let i = at + 1; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE) return i + 1;
    if (byte < 0x20) return -1;
    if (byte !== BACKSLASH) continue;
    const escaped = bytes[++i] ?? 0;
    if (escaped === 0x75) {
      if (!isHex4(bytes, i + 1)) return -1;
      i += 4;
    } else if (!ESCAPED.has(escaped)) return -1;
  }
  return -1;
}

function digitsEnd(bytes: Buffer, at: number): number {
  let i = at;
  while (bytes[i]! >= 0x30 && bytes[i]! <= 0x39) i++;
  return i;
}

/** End of the digits at `at`, or -1 when there are none. */
function someDigitsEnd(bytes: Buffer, at: number): number {
  const end = digitsEnd(bytes, at);
  return end > at ? end : -1;
}

function numberEnd(bytes: Buffer, at: number): number {
  const from = bytes[at] === MINUS ? at + 1 : at;
  let end = bytes[from] === ZERO ? from + 1 : someDigitsEnd(bytes, from);
  if (end > 0 && bytes[end] === POINT) end = someDigitsEnd(bytes, end + 1);
  if (end < 0 || (bytes[end]! | 0x20) !== LETTER_E) return end;
  const sign = bytes[end + 1] === MINUS || bytes[end + 1] === PLUS ? 1 : 0;
  return someDigitsEnd(bytes, end + 1 + sign);
}

function wordEnd(bytes: Buffer, at: number, word: string): number {
  const end = at + word.length;
  return bytes.toString('latin1', at, Math.min(end, bytes.length)) === word ? end : -1;
}

function scalarEnd(bytes: Buffer, at: number): number {
  switch (bytes[at]) {
    case 0x74:
      return wordEnd(bytes, at, 'true');
    case 0x66:
      return wordEnd(bytes, at, 'false');
    case 0x6e:
      return wordEnd(bytes, at, 'null');
    default:
      return numberEnd(bytes, at);
  }
}

/** One `"name": value` pair: where its parts begin and end. */
export type Member = Readonly<{ name: string; from: number; to: number }>;

function memberAt(bytes: Buffer, at: number, depth: number): Member | null {
  if (bytes[at] !== QUOTE) return null;
  const nameEnd = stringEnd(bytes, at);
  if (nameEnd < 0) return null;
  const colon = skipSpace(bytes, nameEnd);
  if (bytes[colon] !== COLON) return null;
  const from = skipSpace(bytes, colon + 1);
  const to = valueEnd(bytes, from, depth);
  if (to < 0) return null;
  return { name: bytes.toString('utf8', at + 1, nameEnd - 1), from, to };
}

function containerEnd(bytes: Buffer, at: number, close: number, itemEnd: (from: number) => number): number {
  let i = skipSpace(bytes, at + 1);
  if (bytes[i] === close) return i + 1;
  for (;;) {
    const end = itemEnd(i);
    if (end < 0) return -1;
    i = skipSpace(bytes, end);
    if (bytes[i] === close) return i + 1;
    if (bytes[i] !== COMMA) return -1;
    i = skipSpace(bytes, i + 1);
  }
}

/** End of the value that begins at `at`, or -1 when it is not JSON, or nests too deep. */
function valueEnd(bytes: Buffer, at: number, depth: number): number {
  const first = bytes[at];
  if (first === QUOTE) return stringEnd(bytes, at);
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return scalarEnd(bytes, at);
  if (depth >= DEPTH_MAX) return -1;
  if (first === OPEN_ARRAY) {
    return containerEnd(bytes, at, CLOSE_ARRAY, (from) => valueEnd(bytes, from, depth + 1));
  }
  return containerEnd(bytes, at, CLOSE_OBJECT, (from) => memberAt(bytes, from, depth + 1)?.to ?? -1);
}

/**
 * The members of the object that a text consists of, in order, each checked but not decoded. Names with escapes
 * stay escaped.
 * @returns null when the text is not one JSON object.
 */
export function objectMembers(bytes: Buffer): readonly Member[] | null {
  const at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) return null;
  const members: Member[] = [];
  const end = containerEnd(bytes, at, CLOSE_OBJECT, (from) => {
    const member = memberAt(bytes, from, 1);
    if (member !== null) members.push(member);
    return member?.to ?? -1;
  });
  if (end < 0 || skipSpace(bytes, end) !== bytes.length) return null;
  return members;
}
