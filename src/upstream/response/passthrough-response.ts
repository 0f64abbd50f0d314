import { isUtf8 } from 'node:buffer';
import { matchesAt } from '../../base/text/short-bytes.ts';
import { bufferPool } from '../../http/buffer-pool.ts';
import type { Network } from '../../protocol/call.ts';
import { type CallAttempt, Failure, type FailureCode } from '../../protocol/errors.ts';
import type { ResponseReader, StreamedResponse } from '../../protocol/streamed-response.ts';
import type { BodyFlow, BodyListener, Exchange } from '../exchange.ts';
import { areDelimiters, RESULT_PREFIX, tailOf, tailStart } from './parse-response.ts';

/** Number of bytes always held back. Every tail is shorter, so the end is verified before it is forwarded. */
const HELD_BACK_BYTES = 64;
/** Data is forwarded once more than this is buffered. */
const BUFFERED_MAX_BYTES = 4096;
const SPACE = 0x20;
const EMPTY = Buffer.alloc(0);

export type StreamEnd = 'complete' | 'invalid' | 'lost' | 'canceled';

export interface StreamListener {
  readonly network: Network;
  readonly responseMaxBytes: number;
  /** The attempt that ended, for the request log. */
  attemptWith(outcome: string): CallAttempt;
  /** Called once. */
  onStreamEnd(end: StreamEnd): void;
}

/**
 * Forwards a large result while it arrives. The start must match Agave's format; the end proves that the response is
 * complete and belongs to our request. In between, only UTF-8 is validated.
 */
export class PassthroughResponse implements StreamedResponse, BodyListener {
  readonly bytes: number | null;
  readonly #tail: string;
  readonly #listener: StreamListener;
  readonly #utf8 = new Utf8Validator();
  readonly #firstByte: number | undefined;
  /** Number of body bytes still expected. Any further bytes would be read as the next response. */
  #remaining: number;
  #flow: BodyFlow | null;
  #reader: ResponseReader | null = null;
  #buffered: Buffer;
  #isPaused = false;
  /** If set before `pipeTo` is called, `pipeTo` reports it. */
  #failure: Failure | null = null;

  /** @param start - accepted by `canStream`. @param bytes - total length; null if unknown. */
  constructor(start: Buffer, bytes: number | null, id: number, flow: BodyFlow, listener: StreamListener) {
    this.#tail = tailOf(id);
    this.#listener = listener;
    this.#flow = flow;
    this.#buffered = start.subarray(RESULT_PREFIX.length);
    this.#firstByte = this.#buffered[0];
    this.bytes = bytes === null ? null : bytes - RESULT_PREFIX.length - this.#tail.length;
    this.#utf8.add(start);
    this.#remaining = bytes === null ? Number.POSITIVE_INFINITY : bytes - start.length;
  }

  static canStream(start: Buffer): boolean {
    if (start.length < RESULT_PREFIX.length + HELD_BACK_BYTES || !matchesAt(start, 0, RESULT_PREFIX))
      return false;
    const firstByte = start[RESULT_PREFIX.length];
    return firstByte === 0x7b || firstByte === 0x5b || firstByte === 0x22;
  }

  pipeTo(reader: ResponseReader): void {
    this.#reader = reader;
    if (this.#failure !== null) {
      reader.onError(this.#failure);
      return;
    }
    this.#forward();
    if (!this.#isPaused) this.#flow?.resume();
  }

  pause(): void {
    this.#isPaused = true;
    this.#flow?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#flow?.resume();
  }

  cancel(): void {
    const flow = this.#flow;
    if (flow === null) return;
    this.#finish('canceled');
    flow.stop();
  }

  onData(bytes: Buffer): void {
    const flow = this.#flow;
    if (flow === null) return;
    this.#remaining -= bytes.length;
    if (this.#remaining < 0 || !this.#utf8.add(bytes)) {
      this.#fail('invalid', 'UPSTREAM_UNAVAILABLE');
      flow.stop();
      return;
    }
    this.#buffered = bufferPool.prepend(this.#buffered, bytes);
    this.#forward();
  }

  onEnd(): boolean {
    if (this.#flow === null) return true;
    const buffered = this.#buffered;
    const end = tailStart(buffered, this.#tail);
    if (end < 1 || !areDelimiters(this.#firstByte, buffered[end - 1]) || !this.#utf8.isComplete) {
      this.#fail('invalid', 'UPSTREAM_UNAVAILABLE');
      return false;
    }
    // A known length includes any final newline. A space, which JSON allows after a value, replaces the newline.
    const padding = this.bytes === null ? 0 : buffered.length - end - this.#tail.length;
    buffered.fill(SPACE, end, end + padding);
    const reader = this.#reader;
    this.#finish('complete');
    reader?.onEnd(buffered.subarray(0, end + padding));
    return true;
  }

  onError(exchange: Exchange): void {
    if (this.#flow === null) return;
    if (exchange.kind === 'too-large') this.#fail('canceled', 'ANSWER_TOO_LARGE');
    else if (exchange.kind === 'over-budget') this.#fail('canceled', 'OVERLOADED');
    else if (exchange.kind === 'aborted') this.#fail('canceled', 'CLIENT_GONE');
    else if (exchange.kind === 'transport' && exchange.timedOut) {
      // A stall is the reader's fault if the response is paused or has no reader, else the node's.
      if (this.#isPaused || this.#reader === null) this.#fail('canceled', 'CLIENT_GONE');
      else this.#fail('lost', 'UPSTREAM_TIMEOUT');
    } else this.#fail('lost', 'UPSTREAM_UNAVAILABLE');
  }

  #forward(): void {
    const [buffered, reader] = [this.#buffered, this.#reader];
    if (reader === null || buffered.length <= BUFFERED_MAX_BYTES || this.#remaining === 0) return;
    const end = buffered.length - HELD_BACK_BYTES;
    // Copied, because the original buffer is passed on.
    this.#buffered = Buffer.from(buffered.subarray(end));
    reader.onData(buffered.subarray(0, end));
  }

  #fail(end: StreamEnd, code: FailureCode): void {
    const { network, responseMaxBytes } = this.#listener;
    const facts = code === 'ANSWER_TOO_LARGE' ? { network, answerMaxBytes: responseMaxBytes } : { network };
    const reader = this.#reader;
    const outcome = `streamed response: ${end}`;
    const attempts = [this.#listener.attemptWith(outcome)];
    this.#failure = new Failure(code, { facts, cause: new Error(outcome), attempts });
    this.#finish(end);
    reader?.onError(this.#failure);
  }

  #finish(end: StreamEnd): void {
    this.#flow = null;
    this.#reader = null;
    this.#buffered = EMPTY;
    this.#listener.onStreamEnd(end);
  }
}

/** 0 for an invalid first byte. */
function sequenceLength(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc0) return 0;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

/** Start of an incomplete UTF-8 sequence at the end; the total length if there is none. */
function incompleteTail(bytes: Buffer, start: number): number {
  for (let back = 1; back <= Math.min(3, bytes.length - start); back++) {
    const needed = sequenceLength(bytes[bytes.length - back] as number);
    if (needed > 0) return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Validates UTF-8 across chunks. */
export class Utf8Validator {
  /** Incomplete sequence, at most three bytes. */
  #partial: Buffer = EMPTY;
  #isInvalid = false;

  get isComplete(): boolean {
    return !this.#isInvalid && this.#partial.length === 0;
  }

  /** @returns false once the text is invalid. */
  add(bytes: Buffer): boolean {
    this.#isInvalid ||= !this.#isValidContinuation(bytes);
    return !this.#isInvalid;
  }

  #isValidContinuation(bytes: Buffer): boolean {
    const needed =
      this.#partial.length === 0 ? 0 : sequenceLength(this.#partial[0] as number) - this.#partial.length;
    if (bytes.length < needed) {
      this.#partial = Buffer.concat([this.#partial, bytes]);
      return true;
    }
    if (needed > 0 && !isUtf8(Buffer.concat([this.#partial, bytes.subarray(0, needed)]))) return false;
    const end = incompleteTail(bytes, needed);
    this.#partial = end === bytes.length ? EMPTY : Buffer.from(bytes.subarray(end));
    return isUtf8(bytes.subarray(needed, end));
  }
}
