import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { matchesAt } from '../../base/text/short-bytes.ts';
import { HttpParser, type HttpSink } from '../../http/llhttp.ts';
import {
  byteTable,
  HEADERS_MAX,
  type HeaderSpan,
  headerSpan,
  NOT_SIMPLE,
  SimpleHeaderParser,
  skipWhile,
} from '../../http/simple-header-parser.ts';
import { Failure } from '../../protocol/errors.ts';
import { SESSION_HEADER } from '../caller.ts';
import { GrowingBody } from '../http/decode.ts';

const [SPACE, TAB, QUESTION] = [0x20, 0x09, 0x3f];
const VERSION = Buffer.from(' HTTP/1.1\r\n');

/** Query characters that do not need validation by llhttp. */
const inQuery = byteTable((text) => /[A-Za-z0-9._~=&%+-]/.test(text));

/** Result of `FastHead.read` for a request that the fast path does not handle. */
export const NOT_FAST = -2;

/**
 * Reads request heads for the fast path, which handles only `POST` to one path over HTTP/1.1, with a content length and
 * a head that has arrived completely. Every other request goes to node:http, which also rejects invalid heads. Heads
 * that the simple parser cannot handle are parsed with llhttp. The spans are valid until the next `read`.
 */
export class FastHead implements HttpSink {
  readonly query = headerSpan();
  readonly host = headerSpan();
  readonly origin = headerSpan();
  readonly contentType = headerSpan();
  readonly authorization = headerSpan();
  readonly forwarded = headerSpan();
  readonly traceparent = headerSpan();
  readonly session = headerSpan();
  readonly acceptEncoding = headerSpan();
  keepAlive = false;
  contentLength = -1;

  readonly #parser = new HttpParser('request', this);
  readonly #requestTarget: Buffer;
  readonly #headMaxBytes: number;
  readonly #headers: SimpleHeaderParser;
  /** Header whose value llhttp reports next; null if the value is not needed. */
  #span: HeaderSpan | null = null;
  #fields = 0;
  #isUnsupported = false;
  #isComplete = false;

  constructor(path: string, headMaxBytes: number) {
    this.#requestTarget = Buffer.from(`POST ${path}`);
    this.#headMaxBytes = headMaxBytes;
    this.#headers = new SimpleHeaderParser({
      host: this.host,
      origin: this.origin,
      'content-type': this.contentType,
      authorization: this.authorization,
      'x-forwarded-for': this.forwarded,
      traceparent: this.traceparent,
      [SESSION_HEADER]: this.session,
      'accept-encoding': this.acceptEncoding,
      expect: null,
      upgrade: null,
      'content-encoding': null,
      'transfer-encoding': null,
    });
  }

  read(bytes: Buffer, start: number, end: number): number {
    const target = this.#requestTarget;
    // The buffer is reused, so bytes at `end` and beyond belong to an earlier message.
    if (!matchesAt(bytes, start, target, end - 1)) return NOT_FAST;
    const next = bytes[start + target.length];
    if (next !== SPACE && next !== QUESTION) return NOT_FAST;
    const limit = Math.min(end, start + this.#headMaxBytes);
    let stop = this.#readSimple(bytes, start + target.length, limit);
    if (stop === NOT_SIMPLE) stop = this.#readWithParser(bytes, start, limit);
    this.contentLength = this.#headers.contentLength;
    return this.host.isPresent && this.contentLength >= 0 ? stop : NOT_FAST;
  }

  /** @param start - offset after the path. */
  #readSimple(bytes: Buffer, start: number, end: number): number {
    let at = start;
    this.query.isPresent = bytes[at] === QUESTION;
    if (this.query.isPresent) {
      this.query.start = ++at;
      at = skipWhile(bytes, at, end, inQuery);
      this.query.end = at;
    }
    if (!matchesAt(bytes, at, VERSION, end)) return NOT_SIMPLE;
    const stop = this.#headers.parse(bytes, at + VERSION.length, end);
    this.keepAlive = this.#headers.keepAlive;
    return stop;
  }

  #readWithParser(bytes: Buffer, start: number, end: number): number {
    this.#headers.clear();
    this.query.isPresent = false;
    this.#span = null;
    this.#fields = 0;
    this.#isUnsupported = false;
    this.#isComplete = false;
    const stop = this.#parser.read(bytes, start, end);
    const isFast = this.#isComplete && !this.#isUnsupported && this.#parser.minorVersion === 1;
    this.#parser.reset();
    this.#headers.readLength(bytes);
    return isFast ? stop : NOT_FAST;
  }

  onUrl(bytes: Buffer, start: number, end: number): void {
    const query = start + this.#requestTarget.length - 'POST '.length;
    if (query >= end || bytes[query] !== QUESTION) return;
    this.query.isPresent = true;
    this.query.start = query + 1;
    this.query.end = end;
  }

  onField(bytes: Buffer, start: number, end: number): void {
    const span = this.#headers.find(bytes, start, end);
    // A repeated header is ambiguous.
    if (span === null || span?.isPresent || ++this.#fields > HEADERS_MAX) this.#isUnsupported = true;
    this.#span = span ?? null;
    if (this.#span === null) return;
    this.#span.isPresent = true;
    this.#span.start = 0;
    this.#span.end = 0;
  }

  onValue(bytes: Buffer, start: number, end: number): void {
    const span = this.#span;
    if (span === null) return;
    // A value reported in parts spans several lines.
    if (span.end !== 0) this.#isUnsupported = true;
    let last = end;
    while (last > start && (bytes[last - 1] === SPACE || bytes[last - 1] === TAB)) last--;
    span.start = start;
    span.end = last;
  }

  onHead(_status: number, keepAlive: boolean, upgrade: boolean): boolean {
    this.keepAlive = keepAlive;
    if (upgrade) this.#isUnsupported = true;
    this.#isComplete = true;
    return true;
  }

  onBody(): void {}

  onEnd(): boolean {
    return true;
  }
}

export class IncomingBody {
  readonly #budget: ByteBudget;
  #reservedBytes = 0;
  #growing: GrowingBody | null = null;
  missing = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  discard(at: number, end: number): number {
    const here = Math.min(this.missing, end - at);
    this.missing -= here;
    return at + here;
  }

  /** Copies the next bytes, at most `missing`. @returns the body once it is complete, else null. */
  append(bytes: Buffer, start: number, end: number): Buffer | null {
    const all = this.missing;
    this.missing -= end - start;
    if (this.missing > 0 || this.#growing !== null) {
      this.#growing ??= new GrowingBody(all, this.#budget);
      this.#growing.add(bytes.subarray(start, end), all);
      return this.missing === 0 ? this.#growing.toBuffer() : null;
    }
    if (!this.#budget.tryReserve(all)) throw new Failure('OVERLOADED');
    this.#reservedBytes = all;
    const body = Buffer.allocUnsafe(all);
    bytes.copy(body, 0, start, end);
    return body;
  }

  release(): void {
    if (this.#reservedBytes > 0) this.#budget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
    this.#growing?.release();
    this.#growing = null;
  }
}
