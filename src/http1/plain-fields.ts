/**
 * The fields of an ordinary head, which lies whole in the bytes that are there, without a parser: most are like this, and to
 * ask llhttp, which is WebAssembly, costs more than to look. What is read here llhttp reads in the same way; whatever is not
 * beyond doubt is left to it. Source: RFC 9112 §5, RFC 9110 §5.6.2.
 */

/** Takes the fields of a head in turn. Must not throw. */
export interface PlainFieldSink {
  /**
   * A field: the places of its name, and of its value without the blanks around it.
   * @returns whether it is one that can be understood without a parser.
   */
  plainField(bytes: Buffer, nameStart: number, nameEnd: number, start: number, end: number): boolean;
}

/** What is said of a head that is left to the parser. */
export const NOT_PLAIN = -1;

const [TAB, LINE_FEED, RETURN, SPACE, COLON] = [0x09, 0x0a, 0x0d, 0x20, 0x3a];

/** A table of bytes, with 1 for each that is one of these. */
export function bytesOf(isOne: (text: string, byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isOne(String.fromCharCode(byte), byte) ? 1 : 0));
}

/** `tchar` of RFC 9110. */
const inName = bytesOf((text) => /[A-Za-z0-9!#$%&'*+.^_`|~-]/.test(text));
/** Visible characters of ASCII, and blanks. */
const inValue = bytesOf((_, byte) => byte === TAB || (byte >= SPACE && byte <= 0x7e));

/**
 * Reads fields up to the empty line behind them.
 * @param end - no more is looked at.
 * @returns where the body begins, or NOT_PLAIN: then it may have told of some.
 */
export function readPlainFields(bytes: Buffer, start: number, end: number, sink: PlainFieldSink): number {
  let at = start;
  while (at < end && bytes[at] !== RETURN) {
    const nameEnd = skip(bytes, at, end, inName);
    if (nameEnd === at || nameEnd >= end || bytes[nameEnd] !== COLON) return NOT_PLAIN;
    const lineEnd = skip(bytes, nameEnd + 1, end, inValue);
    if (!isLineEnd(bytes, lineEnd, end)) return NOT_PLAIN;
    const valueStart = skipBlanks(bytes, nameEnd + 1, lineEnd);
    if (!sink.plainField(bytes, at, nameEnd, valueStart, withoutBlanks(bytes, valueStart, lineEnd)))
      return NOT_PLAIN;
    at = lineEnd + 2;
  }
  return isLineEnd(bytes, at, end) ? at + 2 : NOT_PLAIN;
}

/** Whether these bytes stand there. */
export function standsAt(bytes: Buffer, start: number, end: number, text: Uint8Array): boolean {
  if (end - start < text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text[i]) return false;
  return true;
}

/** Whether a word stands there and nothing else, in letters of any case. @param word - in small letters and hyphens. */
export function isPlainWord(bytes: Buffer, start: number, end: number, word: Uint8Array): boolean {
  if (end - start !== word.length) return false;
  for (let i = 0; i < word.length; i++) if (((bytes[start + i] as number) | 0x20) !== word[i]) return false;
  return true;
}

/** A number of so many digits at most, and nothing else; -1 for anything else. */
export function plainNumber(bytes: Buffer, start: number, end: number, digitsMax: number): number {
  if (end === start || end - start > digitsMax) return -1;
  let number = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}

/** The first place from there on with a byte that is not in the table. */
export function skip(bytes: Buffer, start: number, end: number, table: Uint8Array): number {
  let at = start;
  while (at < end && table[bytes[at] as number] === 1) at++;
  return at;
}

const isBlank = (byte: number | undefined): boolean => byte === SPACE || byte === TAB;

function skipBlanks(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(bytes[at])) at++;
  return at;
}

function withoutBlanks(bytes: Buffer, start: number, end: number): number {
  let last = end;
  while (last > start && isBlank(bytes[last - 1])) last--;
  return last;
}

const isLineEnd = (bytes: Buffer, at: number, end: number): boolean =>
  at + 1 < end && bytes[at] === RETURN && bytes[at + 1] === LINE_FEED;
