import { byLength, byteTable, isToken, matchesAt, skipWhile } from '../../base/text/short-bytes.ts';
import { HttpParser, type HttpSink } from '../../http/llhttp.ts';
import {
  connectionDirective,
  NOT_SIMPLE,
  parseSimpleHeaders,
  parseSimpleLength,
  type SimpleHeaderSink,
} from '../../http/simple-header-parser.ts';
import { SESSION_HEADER } from '../session-header.ts';

/** Where the value of a field stands in the bytes that were read. */
export type Span = { start: number; end: number; isPresent: boolean };

const span = (): Span => ({ start: 0, end: 0, isPresent: false });

/** A field that is looked at. null: with it, a head is none for the fast way. */
type Field = Readonly<{ name: Buffer; span: Span | null }>;

/** Heads with more fields go the long way. */
const FIELDS_MAX = 64;
const [SPACE, TAB, QUESTION] = [0x20, 0x09, 0x3f];
const VERSION = Buffer.from(' HTTP/1.1\r\n');
/** In a query that needs no parser. */
const inQuery = byteTable((text) => /[A-Za-z0-9._~=&%+-]/.test(text));

/** What `read` says of a message that is not read here. */
export const NOT_FAST = -1;

/**
 * Reads heads of requests for the fast way: `POST` of one path over HTTP/1.1, whole in the bytes that are there, with
 * a length and nothing odd. Everything else, what llhttp refuses among it, is left to whoever reads the long way: so
 * nothing is refused here, and nothing has to be understood that is rare. What it found holds until it reads again.
 */
export class FastHead implements HttpSink, SimpleHeaderSink {
  /** What stands in the head, as places in the bytes that were given to `read`. */
  readonly query = span();
  readonly host = span();
  readonly origin = span();
  readonly contentType = span();
  readonly authorization = span();
  readonly forwarded = span();
  readonly traceparent = span();
  readonly session = span();
  /** Bytes of the body. */
  contentLength = 0;
  /** Whether the client lets its connection be kept. */
  keepAlive = false;

  readonly #parser = new HttpParser('request', this);
  readonly #requestTarget: Buffer;
  readonly #headMaxBytes: number;
  readonly #length = span();
  /** Takes what is of no interest. */
  readonly #other = span();
  /** Fields by the length of their names. */
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

  /** @returns where the head ends; NOT_FAST when the message is not one that is read here. */
  read(bytes: Buffer, start: number, end: number): number {
    if (!this.#matchesTarget(bytes, start, end)) return NOT_FAST;
    const limit = Math.min(end, start + this.#headMaxBytes);
    let stop = this.#readSimple(bytes, start, limit);
    if (stop === NOT_SIMPLE) stop = this.#readWithParser(bytes, start, limit);
    if (stop === NOT_FAST || !this.host.isPresent || !this.#readLength(bytes)) return NOT_FAST;
    return stop;
  }

  /** @returns where the head ends; NOT_PLAIN when the parser has to read it. */
  #readSimple(bytes: Buffer, start: number, end: number): number {
    this.#clear();
    let at = start + this.#requestTarget.length;
    if (bytes[at] === QUESTION) {
      this.query.isPresent = true;
      this.query.start = at + 1;
      at = skipWhile(bytes, at + 1, end, inQuery);
      this.query.end = at;
    }
    if (!matchesAt(bytes, at, VERSION, end)) return NOT_SIMPLE;
    this.keepAlive = true;
    return parseSimpleHeaders(bytes, at + VERSION.length, end, this);
  }

  onHeader(bytes: Buffer, nameStart: number, nameEnd: number, start: number, end: number): boolean {
    const field = this.#fieldAt(bytes, nameStart, nameEnd - nameStart);
    if (++this.#fields > FIELDS_MAX || this.#isUnsupported || field.isPresent) return false;
    if (field === this.#other) return this.#acceptsOther(bytes, nameStart, nameEnd, start, end);
    field.isPresent = true;
    field.start = start;
    field.end = end;
    return true;
  }

  /** Whether a field that is not looked at need not be looked at by the parser. */
  #acceptsOther(bytes: Buffer, nameStart: number, nameEnd: number, start: number, end: number): boolean {
    const directive = connectionDirective(bytes, nameStart, nameEnd, start, end);
    if (directive === 'close') this.keepAlive = false;
    return directive !== 'unsupported';
  }

  #readWithParser(bytes: Buffer, start: number, end: number): number {
    this.#clear();
    const stop = this.#parser.read(bytes, start, end);
    const isFast = this.#isComplete && !this.#isUnsupported && this.#parser.minorVersion === 1;
    this.#parser.reset();
    return isFast ? stop : NOT_FAST;
  }

  /** Method and path, with a space or a query behind them. */
  #matchesTarget(bytes: Buffer, start: number, end: number): boolean {
    // Within the bytes: what is behind them is of the message before.
    if (!matchesAt(bytes, start, this.#requestTarget, end - 1)) return false;
    const next = bytes[start + this.#requestTarget.length];
    return next === SPACE || next === QUESTION;
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
    if (!isPresent) return false;
    this.contentLength = parseSimpleLength(bytes, start, end);
    return this.contentLength >= 0;
  }

  onUrl(bytes: Buffer, start: number, end: number): void {
    const query = start + this.#requestTarget.length - 'POST '.length;
    if (query >= end || bytes[query] !== QUESTION) return;
    this.query.isPresent = true;
    this.query.start = query + 1;
    this.query.end = end;
  }

  onField(bytes: Buffer, start: number, end: number): void {
    const field = this.#fieldAt(bytes, start, end - start);
    this.#field = field;
    if (++this.#fields > FIELDS_MAX) this.#isUnsupported = true;
    if (field === this.#other) return;
    // What stands there twice may be understood in two ways.
    if (field.isPresent) this.#isUnsupported = true;
    field.isPresent = true;
    field.start = 0;
    field.end = 0;
  }

  #fieldAt(bytes: Buffer, start: number, length: number): Span {
    const candidates = this.#fieldTable[length];
    if (candidates === undefined) return this.#other;
    for (const field of candidates) {
      if (!isToken(bytes, start, start + length, field.name)) continue;
      if (field.span === null) this.#isUnsupported = true;
      return field.span ?? this.#other;
    }
    return this.#other;
  }

  onValue(bytes: Buffer, start: number, end: number): void {
    const field = this.#field;
    if (field === this.#other) return;
    // A value in pieces goes over several lines.
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
