/**
 * Parses ordinary headers that are complete in the buffer, which is cheaper than calling llhttp in WebAssembly.
 * Results match those of llhttp; anything unusual is left to llhttp. Source: RFC 9112 §5, RFC 9110 §5.6.2.
 */

/** Receives the headers in order. Must not throw. */
export interface SimpleHeaderSink {
  /** @param start - offset of the trimmed value. @returns false to leave the head to llhttp. */
  onHeader(bytes: Buffer, nameStart: number, nameEnd: number, start: number, end: number): boolean;
}

/** Returned for a head that is left to llhttp. */
export const NOT_SIMPLE = -1;

const [LINE_FEED, RETURN, SPACE, COLON] = [0x0a, 0x0d, 0x20, 0x3a];
/** Content-Length values with more digits are not parsed here. */
const LENGTH_MAX_DIGITS = 9;

const [CONNECTION, PROXY_CONNECTION] = [Buffer.from('connection'), Buffer.from('proxy-connection')];
const [CLOSE, KEEP_ALIVE] = [Buffer.from('close'), Buffer.from('keep-alive')];

/**
 * Whether a range equals a token of lower-case letters, digits and hyphens, ignoring case. Valid only for header names
 * and values: setting the case bit turns none of their other bytes into a letter, digit or hyphen.
 */
export function isToken(bytes: Buffer, start: number, end: number, token: Buffer): boolean {
  if (end - start !== token.length) return false;
  for (let i = 0; i < token.length; i++) if (((bytes[start + i] as number) | 0x20) !== token[i]) return false;
  return true;
}

export function byteTable(isOne: (text: string, byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isOne(String.fromCharCode(byte), byte) ? 1 : 0));
}

/** @returns the offset of the first byte that is not in the table, or `end`. */
export function skipWhile(bytes: Buffer, start: number, end: number, table: Uint8Array): number {
  let at = start;
  while (at < end && table[bytes[at] as number] === 1) at++;
  return at;
}

/** Characters of a header name: `tchar` in RFC 9110. */
const inName = byteTable((text) => /[A-Za-z0-9!#$%&'*+.^_`|~-]/.test(text));
/** Visible ASCII and spaces. Tabs are left to llhttp, which does not accept them after every value. */
const inValue = byteTable((_, byte) => byte >= SPACE && byte <= 0x7e);

/** @returns the offset of the body, or NOT_SIMPLE, possibly after some headers were reported. */
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
    if (lineEnd + 1 >= end || bytes[lineEnd] !== RETURN || bytes[lineEnd + 1] !== LINE_FEED)
      return NOT_SIMPLE;
    let valueStart = nameEnd + 1;
    while (bytes[valueStart] === SPACE) valueStart++;
    let valueEnd = lineEnd;
    while (valueEnd > valueStart && bytes[valueEnd - 1] === SPACE) valueEnd--;
    if (!sink.onHeader(bytes, at, nameEnd, valueStart, valueEnd)) return NOT_SIMPLE;
    at = lineEnd + 2;
  }
  return at + 1 < end && bytes[at + 1] === LINE_FEED ? at + 2 : NOT_SIMPLE;
}

/** What a header says about the connection. `unsupported`: left to llhttp; `other`: not a connection header. */
export type ConnectionDirective = 'close' | 'keep-alive' | 'unsupported' | 'other';

export function connectionDirective(
  bytes: Buffer,
  nameStart: number,
  nameEnd: number,
  start: number,
  end: number,
): ConnectionDirective {
  if (isToken(bytes, nameStart, nameEnd, CONNECTION)) {
    if (isToken(bytes, start, end, KEEP_ALIVE)) return 'keep-alive';
    return isToken(bytes, start, end, CLOSE) ? 'close' : 'unsupported';
  }
  return isToken(bytes, nameStart, nameEnd, PROXY_CONNECTION) ? 'unsupported' : 'other';
}

/** Parses a Content-Length value; -1 if it is not a plain number or has too many digits. */
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
