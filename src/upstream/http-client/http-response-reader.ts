import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { byLength, isToken, matchesAt } from '../../base/text/short-bytes.ts';
import { HttpParser, type HttpSink } from '../../http/llhttp.ts';
import {
  connectionDirective,
  NOT_SIMPLE,
  parseSimpleHeaders,
  parseSimpleLength,
  type SimpleHeaderSink,
} from '../../http/simple-header-parser.ts';
import { BodyBuffer } from './body-buffer.ts';

/** Safety margin before the node closes an idle connection by its own clock. */
const MARGIN_MS = 1_000;
const TIMEOUT = /timeout=(\d{1,9})/i;

/** Allowed idle time from a `keep-alive` header; null if it has no timeout. */
export function parseKeepAliveMs(value: string): number | null {
  const seconds = TIMEOUT.exec(value)?.[1];
  if (seconds === undefined) return null;
  const ms = Number(seconds) * 1_000;
  return ms - Math.min(MARGIN_MS, ms / 2);
}

export type TrackedHeader = 'content-length' | 'retry-after' | 'keep-alive';

const NAME_MAX_BYTES = 14;

const bytesOf = (name: TrackedHeader): Buffer => Buffer.from(name);
const CONTENT_LENGTH = bytesOf('content-length');
const RETRY_AFTER = bytesOf('retry-after');
const KEEP_ALIVE = bytesOf('keep-alive');

export class HeaderNameMatcher {
  readonly #bytes = Buffer.alloc(NAME_MAX_BYTES);
  #length = 0;

  clear(): void {
    this.#length = 0;
  }

  add(bytes: Buffer, start: number, end: number): void {
    let at = this.#length;
    this.#length = at + end - start;
    if (this.#length > NAME_MAX_BYTES) return;
    // Sets the lower-case bit; a hyphen has it already.
    for (let from = start; from < end; from++) this.#bytes[at++] = (bytes[from] as number) | 0x20;
  }

  get match(): TrackedHeader | null {
    switch (this.#length) {
      case CONTENT_LENGTH.length:
        return this.#is(CONTENT_LENGTH) ? 'content-length' : null;
      case RETRY_AFTER.length:
        return this.#is(RETRY_AFTER) ? 'retry-after' : null;
      case KEEP_ALIVE.length:
        return this.#is(KEEP_ALIVE) ? 'keep-alive' : null;
      default:
        return null;
    }
  }

  #is(name: Buffer): boolean {
    for (let at = 0; at < name.length; at++) if (this.#bytes[at] !== name[at]) return false;
    return true;
  }
}

/** Limit for the final head and informational ones together. */
const HEAD_MAX_BYTES = 16 * 1024;
/** More digits than any allowed length, including leading zeros. */
const LENGTH_MAX_DIGITS = 15;
/** Longer header values are truncated. */
const VALUE_MAX_BYTES = 128;
const OK_STATUS_LINE = Buffer.from('HTTP/1.1 200 OK\r\n');
/** Tracked headers in such a response. `odd`: fall back to llhttp. */
const plainFields = byLength(
  (
    [
      ['content-length', 'length'],
      ['keep-alive', 'keep-alive'],
      ['retry-after', 'odd'],
      ['transfer-encoding', 'odd'],
      ['upgrade', 'odd'],
    ] as const
  ).map(([name, kind]) => ({ name: Buffer.from(name), kind })),
);
/** Bodies of known length from this size on bypass llhttp. */
const PLAIN_FROM_BYTES = 16 * 1024;

/** `over-budget`: memory budget exhausted. `invalid`: not HTTP, or an unexpected response. */
export type ReadState = 'more' | 'complete' | 'too-large' | 'over-budget' | 'invalid';

/** Reads the responses of one connection. Stops after each one, until `next` is called. */
export class HttpResponseReader implements HttpSink, SimpleHeaderSink {
  readState: ReadState = 'more';
  status = 0;
  retryAfter: string | null = null;
  keepAliveMs: number | null = null;
  keepAlive = false;
  /** -1: until the connection closes. */
  contentLength = -1;
  /** Larger bodies are not buffered at once: they may be streamed. */
  streamThreshold = Number.POSITIVE_INFINITY;
  readonly body: BodyBuffer;
  readonly #parser = new HttpParser('response', this);
  readonly #limits: Readonly<{ responseMaxBytes: number }>;
  readonly #name = new HeaderNameMatcher();
  #field: TrackedHeader | null = null;
  #isInName = false;
  #value = '';
  #isInHead = true;
  #headBytes = 0;
  /** Bytes of all header fields, informational heads included. */
  #fieldBytes = 0;
  #bodyBytes = 0;
  #isParsed = false;
  #plainRemaining = 0;

  constructor(limits: Readonly<{ responseMaxBytes: number }>, budget: ByteBudget) {
    this.body = new BodyBuffer(budget);
    this.#limits = limits;
  }

  get plainRemaining(): number {
    return this.#plainRemaining;
  }

  get isInBody(): boolean {
    return !this.#isInHead && this.readState === 'more';
  }

  /**
   * Reads until a response is complete or the bytes are consumed. Body parts are views into `bytes` until
   * taken or `body.retain` is called.
   * @returns the position reached.
   */
  read(bytes: Buffer, start: number, end: number): number {
    if (this.readState !== 'more') return start;
    let at = start;
    if (this.#plainRemaining === 0) {
      const isAtHead = this.#isInHead && !this.#isParsed;
      const bodyAt = isAtHead ? this.#readPlainHead(bytes, start, end) : NOT_SIMPLE;
      at = bodyAt === NOT_SIMPLE ? this.#parse(bytes, start, end) : bodyAt;
    }
    if (this.#plainRemaining > 0 && this.readState === 'more') at = this.#readPlain(bytes, at, end);
    return at;
  }

  /** Reads a complete simple head. @returns the start of the body; NOT_PLAIN: use llhttp. */
  #readPlainHead(bytes: Buffer, start: number, end: number): number {
    if (!matchesAt(bytes, start, OK_STATUS_LINE, end)) return NOT_SIMPLE;
    const limit = Math.min(end, start + HEAD_MAX_BYTES);
    const bodyAt = parseSimpleHeaders(bytes, start + OK_STATUS_LINE.length, limit, this);
    if (bodyAt === NOT_SIMPLE || this.contentLength <= 0) {
      this.contentLength = -1;
      this.keepAliveMs = null;
      return NOT_SIMPLE;
    }
    this.#isInHead = false;
    this.status = 200;
    this.keepAlive = true;
    this.#startBody(1);
    return bodyAt;
  }

  onHeader(bytes: Buffer, nameStart: number, nameEnd: number, start: number, end: number): boolean {
    const candidates = plainFields[nameEnd - nameStart] ?? [];
    for (const { name, kind } of candidates) {
      if (!isToken(bytes, nameStart, nameEnd, name)) continue;
      if (kind === 'length') return this.#readPlainLength(bytes, start, end);
      if (kind === 'odd') return false;
      this.keepAliveMs = parseKeepAliveMs(
        bytes.toString('latin1', start, Math.min(end, start + VALUE_MAX_BYTES)),
      );
      return true;
    }
    const directive = connectionDirective(bytes, nameStart, nameEnd, start, end);
    return directive === 'other' || directive === 'keep-alive';
  }

  #readPlainLength(bytes: Buffer, start: number, end: number): boolean {
    // A duplicate is ambiguous.
    if (this.contentLength >= 0) return false;
    this.contentLength = parseSimpleLength(bytes, start, end);
    return this.contentLength >= 0;
  }

  #parse(bytes: Buffer, start: number, end: number): number {
    const wasInHead = this.#isInHead;
    this.#isParsed = true;
    const at = this.#parser.read(bytes, start, end);
    if (this.#parser.isFaulty && this.readState === 'more') this.readState = 'invalid';
    if (wasInHead) this.#countHead(at - start);
    return at;
  }

  /** End of the connection: completes a body without a length. */
  finish(): void {
    if (this.readState !== 'more' || this.#plainRemaining > 0) return;
    this.#parser.finish();
  }

  next(): void {
    this.readState = this.keepAlive ? 'more' : 'invalid';
    this.#startHead();
    this.retryAfter = null;
    this.keepAliveMs = null;
    this.#isInHead = true;
    this.#headBytes = 0;
    this.#fieldBytes = 0;
    this.#isParsed = false;
    this.#bodyBytes = 0;
    this.body.clear();
  }

  free(): void {
    this.body.clear();
    this.#parser.free();
  }

  onUrl(): void {}

  onField(bytes: Buffer, start: number, end: number): void {
    if (!this.#isInName) {
      this.#endValue();
      this.#name.clear();
      this.#isInName = true;
    }
    this.#name.add(bytes, start, end);
    if (this.#isInHead) this.#fieldBytes += end - start;
  }

  onValue(bytes: Buffer, start: number, end: number): void {
    if (this.#isInName) {
      this.#isInName = false;
      // Trailers are ignored.
      this.#field = this.#isInHead ? this.#name.match : null;
    }
    if (this.#isInHead) this.#fieldBytes += end - start;
    if (this.#field !== null && this.#value.length < VALUE_MAX_BYTES) {
      this.#value += bytes.toString('latin1', start, Math.min(end, start + VALUE_MAX_BYTES));
    }
  }

  onHead(status: number, keepAlive: boolean, upgrade: boolean): boolean {
    this.#endValue();
    this.status = status;
    this.keepAlive = keepAlive;
    if (upgrade || status === 101 || this.#fieldBytes > HEAD_MAX_BYTES) this.readState = 'invalid';
    // Also rejects earlier informational heads.
    if (this.readState === 'invalid') return true;
    if (status < 200) return false;
    this.#isInHead = false;
    return this.#startBody(PLAIN_FROM_BYTES);
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    // llhttp accepts bodies of unknown informational responses, which would precede the real body.
    if (this.#isInHead) {
      this.readState = 'invalid';
      return;
    }
    this.#bodyBytes += end - start;
    if (this.#bodyBytes > this.#limits.responseMaxBytes) this.readState = 'too-large';
    else this.#bufferBody(bytes, start, end);
  }

  onEnd(): boolean {
    if (this.status < 200) {
      this.#startHead();
      return false;
    }
    if (this.readState === 'more') this.readState = this.body.isOverBudget ? 'over-budget' : 'complete';
    return true;
  }

  /**
   * @param plainFrom - body size from which on llhttp is bypassed.
   * @returns whether it is bypassed, or the body is not wanted.
   */
  #startBody(plainFrom: number): boolean {
    const { contentLength, status } = this;
    if (status === 204 || status === 304) {
      // A body here would be read as the next response.
      this.keepAlive &&= contentLength <= 0;
      return false;
    }
    if (contentLength > this.#limits.responseMaxBytes) {
      this.readState = 'too-large';
      return true;
    }
    if (contentLength > 0 && contentLength < this.streamThreshold) this.body.expect(contentLength);
    if (contentLength < plainFrom) return false;
    this.#plainRemaining = contentLength;
    return true;
  }

  #readPlain(bytes: Buffer, start: number, end: number): number {
    const stop = Math.min(end, start + this.#plainRemaining);
    if (stop > start) this.#bufferBody(bytes, start, stop);
    this.#plainRemaining -= stop - start;
    if (this.#plainRemaining === 0 && this.readState === 'more') {
      if (this.#isParsed) this.#parser.reset();
      this.readState = 'complete';
    }
    return stop;
  }

  #bufferBody(bytes: Buffer, start: number, end: number): void {
    this.body.add(bytes, start, end);
    if (this.body.isOverBudget) this.readState = 'over-budget';
  }

  #countHead(bytes: number): void {
    this.#headBytes += bytes;
    if (this.#headBytes > HEAD_MAX_BYTES && this.#isInHead && this.readState === 'more')
      this.readState = 'invalid';
  }

  #startHead(): void {
    this.#field = null;
    this.#value = '';
    this.#isInName = false;
    this.contentLength = -1;
  }

  /** llhttp validated it as a single number, but the stored text may be truncated. */
  #parseLength(value: string): void {
    const digits = value.trim();
    if (digits.length > LENGTH_MAX_DIGITS) this.readState = 'invalid';
    else this.contentLength = Number(digits);
  }

  #endValue(): void {
    const field = this.#field;
    if (field === null) return;
    const value = this.#value;
    this.#field = null;
    this.#value = '';
    if (field === 'content-length') this.#parseLength(value);
    else if (field === 'keep-alive') this.keepAliveMs = parseKeepAliveMs(value);
    else this.retryAfter = this.retryAfter === null ? value.trim() : null;
  }
}
