import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { byLength, matchesAt } from '../../base/text/short-bytes.ts';
import { HttpParser, type HttpSink } from '../../http/llhttp.ts';
import {
  byteTable,
  connectionDirective,
  isToken,
  NOT_SIMPLE,
  parseSimpleHeaders,
  parseSimpleLength,
  type SimpleHeaderSink,
  skipWhile,
} from '../../http/simple-header-parser.ts';
import { Failure } from '../../protocol/errors.ts';
import { SESSION_HEADER } from '../caller.ts';
import { GrowingBody } from '../http/decode.ts';

export type Span = { start: number; end: number; isPresent: boolean };

const span = (): Span => ({ start: 0, end: 0, isPresent: false });

/** A null span marks a header that the fast path does not support. */
type Field = Readonly<{ name: Buffer; span: Span | null }>;

const FIELDS_MAX = 64;
const [SPACE, TAB, QUESTION] = [0x20, 0x09, 0x3f];
const VERSION = Buffer.from(' HTTP/1.1\r\n');

/** Query characters that do not need validation by llhttp. */
const inQuery = byteTable((text) => /[A-Za-z0-9._~=&%+-]/.test(text));

/** Result of `FastHead.read` for a request that the fast path does not handle. Differs from NOT_SIMPLE. */
export const NOT_FAST = -2;

/**
 * Reads request heads for the fast path: `POST` to one path over HTTP/1.1, with a content length, complete in the given
 * bytes. Every other request goes to node:http, which also rejects invalid heads. llhttp parses heads that the simple
 * parser leaves to it. The spans are valid until the next `read`.
 */
export class FastHead implements HttpSink, SimpleHeaderSink {
  readonly query = span();
  readonly host = span();
  readonly origin = span();
  readonly contentType = span();
  readonly authorization = span();
  readonly forwarded = span();
  readonly traceparent = span();
  readonly session = span();
  contentLength = 0;
  keepAlive = false;

  readonly #parser = new HttpParser('request', this);
  readonly #requestTarget: Buffer;
  readonly #headMaxBytes: number;
  readonly #length = span();
  readonly #other = span();
  readonly #fieldTable: readonly (readonly Field[] | undefined)[];
  readonly #spans: readonly Span[];
  #field: Span = this.#other;
  #fields = 0;
  #isUnsupported = false;
  #isComplete = false;

  constructor(path: string, headMaxBytes: number) {
    this.#requestTarget = Buffer.from(`POST ${path}`);
    this.#headMaxBytes = headMaxBytes;
    const fields: Record<string, Span | null> = {
      host: this.host,
      origin: this.origin,
      'content-type': this.contentType,
      'content-length': this.#length,
      authorization: this.authorization,
      'x-forwarded-for': this.forwarded,
      traceparent: this.traceparent,
      [SESSION_HEADER]: this.session,
      expect: null,
      upgrade: null,
      'content-encoding': null,
      'transfer-encoding': null,
    };
    this.#spans = [this.query, ...Object.values(fields).filter((each) => each !== null)];
    this.#fieldTable = byLength(
      Object.entries(fields).map(([name, value]) => ({ name: Buffer.from(name), span: value })),
    );
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
    if (stop === NOT_FAST || !this.host.isPresent || !this.#readLength(bytes)) return NOT_FAST;
    return stop;
  }

  #clear(): void {
    for (const each of this.#spans) each.isPresent = false;
    this.#field = this.#other;
    this.#fields = 0;
    this.#isUnsupported = false;
    this.#isComplete = false;
  }

  #readLength(bytes: Buffer): boolean {
    const { start, end, isPresent } = this.#length;
    this.contentLength = isPresent ? parseSimpleLength(bytes, start, end) : -1;
    return this.contentLength >= 0;
  }

  /** @param start - offset after the path. */
  #readSimple(bytes: Buffer, start: number, end: number): number {
    this.#clear();
    let at = start;
    if (bytes[at] === QUESTION) {
      this.query.isPresent = true;
      this.query.start = ++at;
      at = skipWhile(bytes, at, end, inQuery);
      this.query.end = at;
    }
    if (!matchesAt(bytes, at, VERSION, end)) return NOT_SIMPLE;
    this.keepAlive = true;
    return parseSimpleHeaders(bytes, at + VERSION.length, end, this);
  }

  onHeader(bytes: Buffer, nameStart: number, nameEnd: number, start: number, end: number): boolean {
    const field = this.#fieldAt(bytes, nameStart, nameEnd);
    if (++this.#fields > FIELDS_MAX || this.#isUnsupported || field.isPresent) return false;
    if (field !== this.#other) {
      field.isPresent = true;
      field.start = start;
      field.end = end;
      return true;
    }
    const directive = connectionDirective(bytes, nameStart, nameEnd, start, end);
    if (directive === 'close') this.keepAlive = false;
    return directive !== 'unsupported';
  }

  #fieldAt(bytes: Buffer, start: number, end: number): Span {
    const candidates = this.#fieldTable[end - start];
    if (candidates === undefined) return this.#other;
    for (const field of candidates) {
      if (!isToken(bytes, start, end, field.name)) continue;
      if (field.span === null) this.#isUnsupported = true;
      return field.span ?? this.#other;
    }
    return this.#other;
  }

  #readWithParser(bytes: Buffer, start: number, end: number): number {
    this.#clear();
    const stop = this.#parser.read(bytes, start, end);
    const isFast = this.#isComplete && !this.#isUnsupported && this.#parser.minorVersion === 1;
    this.#parser.reset();
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
    const field = this.#fieldAt(bytes, start, end);
    this.#field = field;
    if (++this.#fields > FIELDS_MAX) this.#isUnsupported = true;
    if (field === this.#other) return;
    // A repeated header is ambiguous.
    if (field.isPresent) this.#isUnsupported = true;
    field.isPresent = true;
    field.start = 0;
    field.end = 0;
  }

  onValue(bytes: Buffer, start: number, end: number): void {
    const field = this.#field;
    if (field === this.#other) return;
    // A value reported in parts spans several lines.
    if (field.end !== 0) this.#isUnsupported = true;
    let last = end;
    while (last > start && (bytes[last - 1] === SPACE || bytes[last - 1] === TAB)) last--;
    field.start = start;
    field.end = last;
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
