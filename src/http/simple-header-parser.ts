import { byteTable, isToken, skipWhile } from '../base/text/short-bytes.ts';

/**
 * The fields of an ordinary head, which lies whole in the bytes that are there, without a parser: most are like this, and to
 * ask llhttp, which is WebAssembly, costs more than to look. What is read here llhttp reads in the same way; whatever is not
 * beyond doubt is left to it. Source: RFC 9112 §5, RFC 9110 §5.6.2.
 */

/** Takes the fields of a head in turn. Must not throw. */
export interface SimpleHeaderSink {
  /**
   * A field: the places of its name, and of its value without the spaces around it.
   * @returns whether it is one that can be understood without a parser.
   */
  onHeader(bytes: Buffer, nameStart: number, nameEnd: number, start: number, end: number): boolean;
}

/** What is said of a head that is left to the parser. */
export const NOT_SIMPLE = -1;

const [LINE_FEED, RETURN, SPACE, COLON] = [0x0a, 0x0d, 0x20, 0x3a];
/** Digits of a length that is a number without doubt. */
const LENGTH_MAX_DIGITS = 9;

const [CONNECTION, PROXY_CONNECTION] = [Buffer.from('connection'), Buffer.from('proxy-connection')];
const [CLOSE, KEEP_ALIVE] = [Buffer.from('close'), Buffer.from('keep-alive')];

/** `tchar` of RFC 9110. */
const inName = byteTable((text) => /[A-Za-z0-9!#$%&'*+.^_`|~-]/.test(text));
/** Visible characters of ASCII, and spaces. A tab is left to llhttp, which does not take it behind every value. */
const inValue = byteTable((_, byte) => byte >= SPACE && byte <= 0x7e);

/**
 * Reads fields up to the empty line behind them.
 * @param end - no more is looked at.
 * @returns where the body begins, or NOT_PLAIN: then it may have told of some.
 */
export function parseSimpleHeaders(
  bytes: Buffer,
  start: number,
  end: number,
  sink: SimpleHeaderSink,
): number {
  let at = start;
  while (at < end && bytes[at] !== RETURN) {
    const nameEnd = skipWhile(bytes, at, end, inName);
    if (nameEnd === at || nameEnd >= end || bytes[nameEnd] !== COLON) return NOT_SIMPLE;
    const lineEnd = skipWhile(bytes, nameEnd + 1, end, inValue);
    if (!isLineEnd(bytes, lineEnd, end)) return NOT_SIMPLE;
    let valueStart = nameEnd + 1;
    while (bytes[valueStart] === SPACE) valueStart++;
    let valueEnd = lineEnd;
    while (valueEnd > valueStart && bytes[valueEnd - 1] === SPACE) valueEnd--;
    if (!sink.onHeader(bytes, at, nameEnd, valueStart, valueEnd)) return NOT_SIMPLE;
    at = lineEnd + 2;
  }
  return isLineEnd(bytes, at, end) ? at + 2 : NOT_SIMPLE;
}

const isLineEnd = (bytes: Buffer, at: number, end: number): boolean =>
  at + 1 < end && bytes[at] === RETURN && bytes[at + 1] === LINE_FEED;

/** What a field says of how the connection goes on. `odd`: what only the parser understands; `nothing`: it is another. */
export type ConnectionDirective = 'close' | 'keep-alive' | 'odd' | 'nothing';

/** @param start - of its value. */
export function connectionDirective(
  bytes: Buffer,
  nameStart: number,
  nameEnd: number,
  start: number,
  end: number,
): ConnectionDirective {
  if (isToken(bytes, nameStart, nameEnd, CONNECTION)) {
    if (isToken(bytes, start, end, KEEP_ALIVE)) return 'keep-alive';
    return isToken(bytes, start, end, CLOSE) ? 'close' : 'odd';
  }
  return isToken(bytes, nameStart, nameEnd, PROXY_CONNECTION) ? 'odd' : 'nothing';
}

/** The length that the value of a field is; -1 for what is not such a number beyond doubt. */
export function parseSimpleLength(bytes: Buffer, start: number, end: number): number {
  if (end === start || end - start > LENGTH_MAX_DIGITS) return -1;
  let length = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    length = length * 10 + digit;
  }
  return length;
}
