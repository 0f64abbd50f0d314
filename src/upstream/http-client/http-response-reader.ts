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
import { HeaderNameMatcher, type TrackedHeader } from './header-name.ts';
import { parseKeepAliveMs } from './keep-alive.ts';

/** The head of an answer and those that announce it. */
const HEAD_MAX_BYTES = 16 * 1024;
/** More than the longest answer that may be had needs, with zeros before it. */
const LENGTH_MAX_DIGITS = 15;
/** Longer values of the fields that are read are cut off. */
const VALUE_MAX_BYTES = 128;
/** How an answer begins that may be read without the parser. */
const OK_STATUS_LINE = Buffer.from('HTTP/1.1 200 OK\r\n');
/** What becomes of a field of such a head; others are passed over. `odd`: only the parser understands it. */
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
/** Behind a head that the parser has read: bodies of known length from here on are taken without it. */
const PLAIN_FROM_BYTES = 16 * 1024;

/**
 * How far a response has come. `no-room`: nowhere to put all of it. `faulty`: it is no HTTP, or none that we asked for.
 */
export type ReadState = 'more' | 'whole' | 'too-large' | 'no-room' | 'faulty';

/**
 * Reads the responses of one connection, one after the other. It stops behind each; whoever has it takes the response
 * and says `next`.
 */
export class HttpResponseReader implements HttpSink, SimpleHeaderSink {
  readState: ReadState = 'more';
  status = 0;
  retryAfter: string | null = null;
  /** How long the node keeps an unused connection, as it said; null when it did not. */
  keepAliveMs: number | null = null;
  /** Another request may follow. */
  keepAlive = false;
  /** How long the body will be; -1 when only its end will tell. */
  contentLength = -1;
  /** A body that is longer than this is not given its place at once: it may be handed over while it comes. */
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
  /** Bytes of the fields so far, of the head and of those that announce it: the same however they come. */
  #fieldBytes = 0;
  /** Bytes of the body so far; more than were gathered when some were handed over. */
  #bodyBytes = 0;
  /** Whether the parser has seen anything of this response. */
  #isParsed = false;
  /** Bytes of the body that follow without any framing. */
  #plainRemaining = 0;

  /** @param budget - what bodies are gathered in, of all connections together. */
  constructor(limits: Readonly<{ responseMaxBytes: number }>, budget: ByteBudget) {
    this.body = new BodyBuffer(budget);
    this.#limits = limits;
  }

  /** Bytes of the body that are still to come, where it comes without any framing. */
  get plainRemaining(): number {
    return this.#plainRemaining;
  }

  /** The body is coming, and nobody knows a reason why not all of it should. */
  get isInBody(): boolean {
    return !this.#isInHead && this.readState === 'more';
  }

  /**
   * Reads on, until a response is whole or there is nothing left. What it finds of a body is a view into the bytes, until
   * it is taken or `body.keep` is called.
   * @returns how far it came.
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

  /** An ordinary head that is there as a whole. @returns where its body begins; NOT_PLAIN: it is left to the parser. */
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
    return directive === 'nothing' || directive === 'keep-alive';
  }

  #readPlainLength(bytes: Buffer, start: number, end: number): boolean {
    // A second one may be understood in two ways.
    if (this.contentLength >= 0) return false;
    this.contentLength = parseSimpleLength(bytes, start, end);
    return this.contentLength >= 0;
  }

  #parse(bytes: Buffer, start: number, end: number): number {
    const wasInHead = this.#isInHead;
    this.#isParsed = true;
    const at = this.#parser.read(bytes, start, end);
    if (this.#parser.isFaulty && this.readState === 'more') this.readState = 'faulty';
    if (wasInHead) this.#countHead(at - start);
    return at;
  }

  /** The node sends nothing more: a body that goes on until then is whole. */
  finish(): void {
    if (this.readState !== 'more' || this.#plainRemaining > 0) return;
    this.#parser.finish();
  }

  /** The response was taken: another may follow, unless it was the last of its connection. */
  next(): void {
    this.readState = this.keepAlive ? 'more' : 'faulty';
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

  /** Gives its memory back; it reads nothing more. */
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
      // What stands behind a body has no say.
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
    if (upgrade || status === 101 || this.#fieldBytes > HEAD_MAX_BYTES) this.readState = 'faulty';
    // Also for what stood before this head: nothing behind it may say otherwise.
    if (this.readState === 'faulty') return true;
    if (status < 200) return false;
    this.#isInHead = false;
    return this.#startBody(PLAIN_FROM_BYTES);
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    // llhttp gives a body to announcements that nobody knows: it would stand before that of the answer.
    if (this.#isInHead) {
      this.readState = 'faulty';
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
    if (this.readState === 'more') this.readState = this.body.isOverBudget ? 'no-room' : 'whole';
    return true;
  }

  /**
   * Says how the body will come.
   * @param plainFrom - one of known length is taken without the parser if it is as long as this.
   * @returns whether it is, or is not wanted.
   */
  #startBody(plainFrom: number): boolean {
    const { contentLength, status } = this;
    if (status === 204 || status === 304) {
      // What a node may send there all the same would be taken for the next answer.
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
      this.readState = 'whole';
    }
    return stop;
  }

  #bufferBody(bytes: Buffer, start: number, end: number): void {
    this.body.add(bytes, start, end);
    if (this.body.isOverBudget) this.readState = 'no-room';
  }

  #countHead(bytes: number): void {
    this.#headBytes += bytes;
    if (this.#headBytes > HEAD_MAX_BYTES && this.#isInHead && this.readState === 'more')
      this.readState = 'faulty';
  }

  #startHead(): void {
    this.#field = null;
    this.#value = '';
    this.#isInName = false;
    this.contentLength = -1;
  }

  /** The parser has made sure that it is a number, and the only one; but it may be longer than what was kept of it. */
  #parseLength(value: string): void {
    const digits = value.trim();
    if (digits.length > LENGTH_MAX_DIGITS) this.readState = 'faulty';
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
