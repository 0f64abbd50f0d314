import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { matchesAt } from '../../base/text/short-bytes.ts';
import { bufferPool, POOLED_MIN_BYTES } from '../../http/buffer-pool.ts';
import { HttpParser, type HttpSink } from '../../http/llhttp.ts';
import { headerSpan, isToken, NOT_SIMPLE, SimpleHeaderParser } from '../../http/simple-header-parser.ts';

/** Idle connections are closed up to this long before the node would close them. */
const MARGIN_MS = 1_000;
const TIMEOUT = /timeout=(\d{1,9})/i;

export function parseKeepAliveMs(value: string): number | null {
  const seconds = TIMEOUT.exec(value)?.[1];
  if (seconds === undefined) return null;
  const ms = Number(seconds) * 1_000;
  return ms - Math.min(MARGIN_MS, ms / 2);
}

const trackedHeaders = (['content-length', 'retry-after', 'keep-alive'] as const).map((header) => ({
  header,
  name: Buffer.from(header),
}));

type TrackedHeader = (typeof trackedHeaders)[number]['header'];

const NAME_MAX_BYTES = 14;

class HeaderNameMatcher {
  readonly #bytes = Buffer.alloc(NAME_MAX_BYTES);
  #length = 0;

  clear(): void {
    this.#length = 0;
  }

  add(bytes: Buffer, start: number, end: number): void {
    let at = this.#length;
    this.#length = at + end - start;
    if (this.#length > NAME_MAX_BYTES) return;
    for (let from = start; from < end; from++) this.#bytes[at++] = bytes[from] as number;
  }

  get match(): TrackedHeader | null {
    for (const { header, name } of trackedHeaders)
      if (isToken(this.#bytes, 0, this.#length, name)) return header;
    return null;
  }
}

/** Limits the size of the final head and all informational heads together. */
const HEAD_MAX_BYTES = 16 * 1024;
/** Maximum digits of a content length, including leading zeros; allowed lengths need fewer. */
const LENGTH_MAX_DIGITS = 15;
/** Longer header values are truncated. */
const VALUE_MAX_BYTES = 128;
const OK_STATUS_LINE = Buffer.from('HTTP/1.1 200 OK\r\n');
const keepAliveHeader = headerSpan();
/** Shared by all readers: results are used before the next head is read. */
const plainHead = new SimpleHeaderParser({
  'keep-alive': keepAliveHeader,
  'retry-after': null,
  'transfer-encoding': null,
  upgrade: null,
});
/** Bodies of known length bypass llhttp if they have at least this size. */
const PLAIN_FROM_BYTES = 16 * 1024;

/** `invalid`: not HTTP, or an unexpected response. */
export type ReadState = 'more' | 'complete' | 'too-large' | 'over-budget' | 'invalid';

/** Reads the responses on one connection. Stops after each response until `next` is called. */
export class HttpResponseReader implements HttpSink {
  readState: ReadState = 'more';
  status = 0;
  retryAfter: string | null = null;
  keepAliveMs: number | null = null;
  keepAlive = false;
  /** -1 if the response has no content length. */
  contentLength = -1;
  /** No buffer is reserved for bodies of at least this size, because they may be streamed. */
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
  /** Size of all header names and values, including those of informational heads. */
  #fieldBytes = 0;
  #bodyBytes = 0;
  #isParsed = false;
  plainRemaining = 0;

  constructor(limits: Readonly<{ responseMaxBytes: number }>, budget: ByteBudget) {
    this.body = new BodyBuffer(budget);
    this.#limits = limits;
  }

  get isInBody(): boolean {
    return !this.#isInHead && this.readState === 'more';
  }

  /**
   * Reads until a response is complete or all bytes are consumed. Until taken or retained, the body may be a view.
   * @returns the position reached.
   */
  read(bytes: Buffer, start: number, end: number): number {
    if (this.readState !== 'more') return start;
    let at = start;
    if (this.plainRemaining === 0) {
      const isAtHead = this.#isInHead && !this.#isParsed;
      const bodyAt = isAtHead ? this.#readPlainHead(bytes, start, end) : NOT_SIMPLE;
      at = bodyAt === NOT_SIMPLE ? this.#parse(bytes, start, end) : bodyAt;
    }
    if (this.plainRemaining === 0 || this.readState !== 'more') return at;
    const stop = Math.min(end, at + this.plainRemaining);
    if (stop > at) this.#bufferBody(bytes, at, stop);
    this.plainRemaining -= stop - at;
    if (this.plainRemaining === 0 && this.readState === 'more') {
      if (this.#isParsed) this.#parser.reset();
      this.readState = 'complete';
    }
    return stop;
  }

  /** @returns the start of the body, or NOT_SIMPLE if llhttp must be used. */
  #readPlainHead(bytes: Buffer, start: number, end: number): number {
    if (!matchesAt(bytes, start, OK_STATUS_LINE, end)) return NOT_SIMPLE;
    const limit = Math.min(end, start + HEAD_MAX_BYTES);
    const bodyAt = plainHead.parse(bytes, start + OK_STATUS_LINE.length, limit);
    if (bodyAt === NOT_SIMPLE || !plainHead.keepAlive || plainHead.contentLength <= 0) return NOT_SIMPLE;
    this.contentLength = plainHead.contentLength;
    if (keepAliveHeader.isPresent)
      this.keepAliveMs = parseKeepAliveMs(
        bytes.toString('latin1', keepAliveHeader.start, keepAliveHeader.end),
      );
    this.#isInHead = false;
    this.status = 200;
    this.keepAlive = true;
    this.#startBody(1);
    return bodyAt;
  }

  #parse(bytes: Buffer, start: number, end: number): number {
    const wasInHead = this.#isInHead;
    this.#isParsed = true;
    const at = this.#parser.read(bytes, start, end);
    if (this.#parser.isFaulty && this.readState === 'more') this.readState = 'invalid';
    if (wasInHead) this.#countHead(at - start);
    return at;
  }

  /** Called when the connection ends. Completes a body of unknown length. */
  finish(): void {
    if (this.readState !== 'more' || this.plainRemaining > 0) return;
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
    // An earlier informational head may also have been invalid.
    if (this.readState === 'invalid') return true;
    if (status < 200) return false;
    this.#isInHead = false;
    return this.#startBody(PLAIN_FROM_BYTES);
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    // llhttp accepts bodies in unknown informational responses. Such bodies would be prepended to the real body.
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

  /** @param plainFrom - minimum body size for bypassing llhttp. @returns whether llhttp must skip the body. */
  #startBody(plainFrom: number): boolean {
    const { contentLength, status } = this;
    if (status === 204 || status === 304) {
      // A body after these statuses would be read as the next response.
      this.keepAlive &&= contentLength <= 0;
      return false;
    }
    if (contentLength > this.#limits.responseMaxBytes) {
      this.readState = 'too-large';
      return true;
    }
    if (contentLength > 0 && contentLength < this.streamThreshold) this.body.expectedBytes = contentLength;
    if (contentLength < plainFrom) return false;
    this.plainRemaining = contentLength;
    return true;
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

  /** llhttp has checked that the value is a single number, but the stored text may be truncated. */
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

const BLOCK_MIN_BYTES = 16 * 1024;
const BLOCK_MAX_BYTES = 1024 * 1024;
const EMPTY = Buffer.alloc(0);

const BUFFER_MIN_BYTES = 64 * 1024;
/** Beyond BUFFER_MIN_BYTES, the buffer is at most this many times as large as the bytes received. */
const BUFFER_GROWTH = 16;

/**
 * Buffers a response body within a memory budget. A body of known length is copied into a buffer that grows as it
 * fills, so that a large content length alone reserves little memory. A body received in a single read is copied only
 * once.
 */
export class BodyBuffer {
  bytes = 0;
  readonly #budget: ByteBudget;
  #reserved = 0;
  #buffer: Buffer = EMPTY;
  #pending: Buffer = EMPTY;
  #pendingStart = 0;
  #pendingEnd = 0;
  /** All blocks are full except the last. */
  #blocks: Buffer[] | null = null;
  #lastBlockUsed = 0;
  isOverBudget = false;
  /** 0 if the length is unknown or the body may be streamed. */
  expectedBytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  add(bytes: Buffer, start: number, end: number): void {
    if (this.expectedBytes > 0) {
      if (this.#ensureCapacity(this.bytes + end - start)) bytes.copy(this.#buffer, this.bytes, start, end);
    } else if (this.bytes === 0) {
      this.#pending = bytes;
      this.#pendingStart = start;
      this.#pendingEnd = end;
    } else {
      this.retain();
      this.#append(bytes, start, end);
    }
    this.bytes += end - start;
  }

  /** Copies pending bytes, because the read buffer will be reused. */
  retain(): void {
    if (this.#pending === EMPTY) return;
    const pending = this.#pending;
    this.#pending = EMPTY;
    this.#append(pending, this.#pendingStart, this.#pendingEnd);
  }

  toBuffer(): Buffer {
    if (this.expectedBytes > 0) return Buffer.from(this.#buffer.subarray(0, this.bytes));
    if (this.#pending !== EMPTY) return copyRange(this.#pending, this.#pendingStart, this.#pendingEnd);
    return this.#blocks === null ? EMPTY : Buffer.concat(this.#blocks, this.bytes);
  }

  /**
   * Returns the next part of a streamed body. Copies it unless it is a large part at the end of a pooled buffer.
   * @param isLast - whether nothing else was read into the buffer after this part.
   */
  piece(isLast: boolean): Buffer {
    const [pending, from, to] = [this.#pending, this.#pendingStart, this.#pendingEnd];
    if (pending === EMPTY) return this.toBuffer();
    const mayStay = isLast && to - from >= POOLED_MIN_BYTES && bufferPool.isPooled(pending);
    return mayStay ? pending.subarray(from, to) : bufferPool.copyOf(pending, from, to);
  }

  take(): Buffer {
    const body = this.expectedBytes > 0 ? this.#buffer : this.toBuffer();
    this.clear();
    return body;
  }

  clear(): void {
    if (this.#reserved > 0) this.#budget.release(this.#reserved);
    this.bytes = 0;
    this.#reserved = 0;
    this.expectedBytes = 0;
    this.#buffer = EMPTY;
    this.#pending = EMPTY;
    this.#blocks = null;
    this.#lastBlockUsed = 0;
    this.isOverBudget = false;
  }

  /** Once the body is complete, the buffer has exactly the expected length. */
  #ensureCapacity(bytes: number): boolean {
    if (bytes <= this.#buffer.length) return true;
    const size = Math.min(this.expectedBytes, Math.max(BUFFER_MIN_BYTES, BUFFER_GROWTH * this.bytes, bytes));
    if (this.isOverBudget || !this.#reserve(size - this.#buffer.length)) return false;
    const before = this.#buffer;
    this.#buffer = Buffer.allocUnsafe(size);
    before.copy(this.#buffer, 0, 0, this.bytes);
    return true;
  }

  #append(bytes: Buffer, start: number, end: number): void {
    this.#blocks ??= [];
    let at = start;
    while (at < end) {
      const block = this.#blockFor(this.#blocks, end - at);
      if (block === null) return;
      const copiedBytes = bytes.copy(block, this.#lastBlockUsed, at, end);
      this.#lastBlockUsed += copiedBytes;
      at += copiedBytes;
    }
  }

  /** null if the budget is exhausted. */
  #blockFor(blocks: Buffer[], needed: number): Buffer | null {
    const last = blocks.at(-1);
    if (last !== undefined && this.#lastBlockUsed < last.length) return last;
    const size = Math.max(
      BLOCK_MIN_BYTES,
      Math.min(BLOCK_MAX_BYTES, Math.max(needed, (last?.length ?? 0) * 2)),
    );
    if (this.isOverBudget || !this.#reserve(size)) return null;
    const block = Buffer.allocUnsafe(size);
    blocks.push(block);
    this.#lastBlockUsed = 0;
    return block;
  }

  #reserve(bytes: number): boolean {
    this.isOverBudget = !this.#budget.tryReserve(bytes);
    if (!this.isOverBudget) this.#reserved += bytes;
    return !this.isOverBudget;
  }
}

function copyRange(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}
