/**
 * Parses ordinary headers that are complete in the buffer, which is cheaper than calling llhttp in WebAssembly.
 * Results match those of llhttp; anything unusual is left to llhttp. Source: RFC 9112 §5, RFC 9110 §5.6.2.
 */

import { byLength } from '../base/text/short-bytes.ts';

/** Value of a header, without surrounding spaces. `start` and `end` are offsets, valid only if `isPresent`. */
export type HeaderSpan = { start: number; end: number; isPresent: boolean };

export const headerSpan = (): HeaderSpan => ({ start: 0, end: 0, isPresent: false });

/** Returned for a head that must be parsed with llhttp. */
export const NOT_SIMPLE = -1;

const [LINE_FEED, RETURN, SPACE, COLON] = [0x0a, 0x0d, 0x20, 0x3a];
/** Content-Length values with more digits are not parsed here. */
const LENGTH_MAX_DIGITS = 9;
export const HEADERS_MAX = 64;

const [CLOSE, KEEP_ALIVE] = [Buffer.from('close'), Buffer.from('keep-alive')];

/**
 * Whether a range equals a token of lower-case letters, digits and hyphens, ignoring case. Valid only for header names
 * and values: setting the case bit turns no other byte allowed there into a letter, digit or hyphen.
 */
export function isToken(bytes: Buffer, start: number, end: number, token: Buffer): boolean {
  if (end - start !== token.length) return false;
  for (let i = 0; i < token.length; i++) if (((bytes[start + i] as number) | 0x20) !== token[i]) return false;
  return true;
}

export function byteTable(isIncluded: (text: string, byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isIncluded(String.fromCharCode(byte), byte) ? 1 : 0));
}

/** @returns the offset of the first byte that is not in the table, or `end`. */
export function skipWhile(bytes: Buffer, start: number, end: number, table: Uint8Array): number {
  let at = start;
  while (at < end && table[bytes[at] as number] === 1) at++;
  return at;
}

/** Characters of a header name: `tchar` in RFC 9110. */
const inName = byteTable((text) => /[A-Za-z0-9!#$%&'*+.^_`|~-]/.test(text));
/** Visible ASCII and spaces. Values with tabs are left to llhttp, which rejects some of them. */
const inValue = byteTable((_, byte) => byte >= SPACE && byte <= 0x7e);

type NamedSpan = Readonly<{ name: Buffer; span: HeaderSpan | null }>;

/** Reads the headers named in a table; other headers are only validated. Results are valid until the next call. */
export class SimpleHeaderParser {
  /** -1 if the head has no content length. */
  contentLength = -1;
  keepAlive = true;
  readonly #length = headerSpan();
  readonly #connection = headerSpan();
  readonly #spans: readonly HeaderSpan[];
  readonly #table: readonly (readonly NamedSpan[] | undefined)[];

  /** @param headers - lower-case names with the span for each value; null: heads with the header are left to llhttp. */
  constructor(headers: Readonly<Record<string, HeaderSpan | null>>) {
    const all = {
      ...headers,
      'content-length': this.#length,
      connection: this.#connection,
      'proxy-connection': null,
    };
    this.#spans = Object.values(all).filter((span) => span !== null);
    this.#table = byLength(Object.entries(all).map(([name, span]) => ({ name: Buffer.from(name), span })));
  }

  /** @returns the span of a header; null if its head is left to llhttp; undefined if the header is not in the table. */
  find(bytes: Buffer, start: number, end: number): HeaderSpan | null | undefined {
    const candidates = this.#table[end - start];
    if (candidates === undefined) return undefined;
    for (const { name, span } of candidates) if (isToken(bytes, start, end, name)) return span;
    return undefined;
  }

  clear(): void {
    for (const span of this.#spans) span.isPresent = false;
    this.contentLength = -1;
    this.keepAlive = true;
  }

  /** @returns the offset of the body, or NOT_SIMPLE, including when a header in the table is repeated. */
  parse(bytes: Buffer, start: number, end: number): number {
    this.clear();
    let at = start;
    for (let headers = 0; at < end && bytes[at] !== RETURN; headers++) {
      const nameEnd = skipWhile(bytes, at, end, inName);
      if (nameEnd === at || nameEnd >= end || bytes[nameEnd] !== COLON) return NOT_SIMPLE;
      const lineEnd = skipWhile(bytes, nameEnd + 1, end, inValue);
      if (lineEnd + 1 >= end || bytes[lineEnd] !== RETURN || bytes[lineEnd + 1] !== LINE_FEED)
        return NOT_SIMPLE;
      const span = this.find(bytes, at, nameEnd);
      if (span === null || span?.isPresent || headers === HEADERS_MAX) return NOT_SIMPLE;
      if (span !== undefined) setValue(span, bytes, nameEnd + 1, lineEnd);
      at = lineEnd + 2;
    }
    if (at + 1 >= end || bytes[at + 1] !== LINE_FEED) return NOT_SIMPLE;
    return this.#readConnection(bytes) && this.readLength(bytes) ? at + 2 : NOT_SIMPLE;
  }

  /** Sets `contentLength`. @returns false if the header is present but not a plain number. */
  readLength(bytes: Buffer): boolean {
    const { start, end, isPresent } = this.#length;
    this.contentLength = isPresent ? parseSimpleLength(bytes, start, end) : -1;
    return !isPresent || this.contentLength >= 0;
  }

  #readConnection(bytes: Buffer): boolean {
    const { start, end, isPresent } = this.#connection;
    this.keepAlive = !isPresent || isToken(bytes, start, end, KEEP_ALIVE);
    return this.keepAlive || isToken(bytes, start, end, CLOSE);
  }
}

function setValue(span: HeaderSpan, bytes: Buffer, start: number, end: number): void {
  while (bytes[start] === SPACE) start++;
  while (end > start && bytes[end - 1] === SPACE) end--;
  span.isPresent = true;
  span.start = start;
  span.end = end;
}

/** Parses a Content-Length value; -1 if it is not a plain number or has too many digits. */
function parseSimpleLength(bytes: Buffer, start: number, end: number): number {
  if (end === start || end - start > LENGTH_MAX_DIGITS) return -1;
  let length = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    length = length * 10 + digit;
  }
  return length;
}
