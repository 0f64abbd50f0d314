import type { ByteBudget } from '../../base/byte-budget.ts';
import { HttpParser, type HttpSink } from '../../http1/llhttp.ts';
import { FieldName, type KnownField } from './field-name.ts';
import { GatheredBody } from './gathered-body.ts';
import { keepAliveMsOf } from './keep-alive.ts';

/** The head of an answer and those that announce it. */
const HEAD_MAX_BYTES = 16 * 1024;
/** Longer values of the fields that are read are cut off. */
const VALUE_MAX_BYTES = 128;
/** Bodies from here on whose length is known need no parser. */
const PLAIN_FROM_BYTES = 16 * 1024;

/**
 * How far a response has come. `no-room`: nowhere to put all of it. `faulty`: it is no HTTP, or none that we asked for.
 */
export type Reading = 'more' | 'whole' | 'too-large' | 'no-room' | 'faulty';

/**
 * Reads the responses of one connection, one after the other. It stops behind each; whoever has it takes the response
 * and says `next`.
 */
export class ResponseReader implements HttpSink {
  reading: Reading = 'more';
  status = 0;
  retryAfter: string | null = null;
  /** How long the node keeps an unused connection, as it said; null when it did not. */
  keepAliveMs: number | null = null;
  /** Another request may follow. */
  keepAlive = false;
  /** How long the body will be; -1 when only its end will tell. */
  contentLength = -1;
  /** A body that is longer than this is not given its place at once: it may be handed over while it comes. */
  longFromBytes = Number.POSITIVE_INFINITY;
  readonly body: GatheredBody;
  readonly #parser = new HttpParser('response', this);
  readonly #limits: Readonly<{ answerMaxBytes: number }>;
  readonly #name = new FieldName();
  #field: KnownField | null = null;
  #isInName = false;
  #value = '';
  #isInHead = true;
  #headBytes = 0;
  /** Bytes of the body so far; more than were gathered when some were handed over. */
  #bodyBytes = 0;
  /** Bytes of the body that follow without any framing. */
  #plainLeft = 0;

  /** @param budget - what bodies are gathered in, of all connections together. */
  constructor(limits: Readonly<{ answerMaxBytes: number }>, budget: ByteBudget) {
    this.body = new GatheredBody(budget);
    this.#limits = limits;
  }

  /** The body is coming, and nobody knows a reason why not all of it should. */
  get isInBody(): boolean {
    return !this.#isInHead && this.reading === 'more';
  }

  /**
   * Reads on, until a response is whole or there is nothing left. What it finds of a body is a view into the bytes, until
   * it is taken or `body.keep` is called.
   * @returns how far it came.
   */
  read(bytes: Buffer, start: number, end: number): number {
    let at = start;
    if (this.#plainLeft === 0) {
      const wasInHead = this.#isInHead;
      at = this.#parser.read(bytes, start, end);
      if (this.#parser.isFaulty && this.reading === 'more') this.reading = 'faulty';
      if (wasInHead) this.#countHead(at - start);
    }
    if (this.#plainLeft > 0 && this.reading === 'more') at = this.#readPlain(bytes, at, end);
    return at;
  }

  /** The node sends nothing more: a body that goes on until then is whole. */
  finish(): void {
    if (this.reading !== 'more' || this.#plainLeft > 0) return;
    this.#parser.finish();
  }

  /** The response was taken: another may follow. */
  next(): void {
    this.reading = 'more';
    this.#beginHead();
    this.retryAfter = null;
    this.keepAliveMs = null;
    this.#isInHead = true;
    this.#headBytes = 0;
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
  }

  onValue(bytes: Buffer, start: number, end: number): void {
    if (this.#isInName) {
      this.#isInName = false;
      // What stands behind a body has no say.
      this.#field = this.#isInHead ? this.#name.known : null;
    }
    if (this.#field !== null && this.#value.length < VALUE_MAX_BYTES) {
      this.#value += bytes.toString('latin1', start, Math.min(end, start + VALUE_MAX_BYTES));
    }
  }

  onHead(status: number, keepAlive: boolean, upgrade: boolean): boolean {
    this.#endValue();
    this.status = status;
    this.keepAlive = keepAlive;
    if (upgrade || status === 101) this.reading = 'faulty';
    if (status < 200) return this.reading === 'faulty';
    this.#isInHead = false;
    return this.#beginBody();
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    this.#bodyBytes += end - start;
    if (this.#bodyBytes > this.#limits.answerMaxBytes) this.reading = 'too-large';
    else this.#gather(bytes, start, end);
  }

  onEnd(): boolean {
    if (this.status < 200) {
      this.#beginHead();
      return false;
    }
    if (this.reading === 'more') this.reading = this.body.isRefused ? 'no-room' : 'whole';
    return true;
  }

  /** Says how the body will come. Returns whether it comes without the parser, or is not wanted. */
  #beginBody(): boolean {
    const { contentLength, status } = this;
    if (status === 204 || status === 304) {
      // What a node may send there all the same would be taken for the next answer.
      this.keepAlive &&= contentLength <= 0;
      return false;
    }
    if (contentLength > this.#limits.answerMaxBytes) {
      this.reading = 'too-large';
      return true;
    }
    if (contentLength > 0 && contentLength < this.longFromBytes) this.body.expect(contentLength);
    if (contentLength < PLAIN_FROM_BYTES) return false;
    this.#plainLeft = contentLength;
    return true;
  }

  #readPlain(bytes: Buffer, start: number, end: number): number {
    const stop = Math.min(end, start + this.#plainLeft);
    if (stop > start) this.#gather(bytes, start, stop);
    this.#plainLeft -= stop - start;
    if (this.#plainLeft === 0 && this.reading === 'more') {
      this.#parser.reset();
      this.reading = 'whole';
    }
    return stop;
  }

  #gather(bytes: Buffer, start: number, end: number): void {
    this.body.add(bytes, start, end);
    if (this.body.isRefused) this.reading = 'no-room';
  }

  #countHead(bytes: number): void {
    this.#headBytes += bytes;
    if (this.#headBytes > HEAD_MAX_BYTES && this.#isInHead && this.reading === 'more')
      this.reading = 'faulty';
  }

  #beginHead(): void {
    this.#field = null;
    this.#value = '';
    this.#isInName = false;
    this.contentLength = -1;
  }

  #endValue(): void {
    const field = this.#field;
    if (field === null) return;
    const value = this.#value;
    this.#field = null;
    this.#value = '';
    // The parser has made sure that it is a number, and the only one.
    if (field === 'content-length') this.contentLength = Number(value);
    else if (field === 'keep-alive') this.keepAliveMs = keepAliveMsOf(value);
    else this.retryAfter = this.retryAfter === null ? value.trim() : null;
  }
}
