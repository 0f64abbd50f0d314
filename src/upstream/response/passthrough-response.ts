import { matchesAt } from '../../base/text/short-bytes.ts';
import { bufferPool } from '../../http/buffer-pool.ts';
import type { Network } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ResponseReader, StreamedResponse } from '../../protocol/streamed-response.ts';
import type { BodyFlow, BodyListener, Exchange } from '../exchange.ts';
import { areDelimiters, RESULT_PREFIX, tailOf, tailStart } from './agave-format.ts';
import { Utf8Validator } from './utf8-validator.ts';

/** Longer than any tail: so much is always held back, so that the end is seen before it is passed on. */
const BUFFERED_MIN_BYTES = 64;
/** More than this is not held back, but for the last piece. */
const BUFFERED_MAX_BYTES = 4096;
const SPACE = 0x20;
const EMPTY = Buffer.alloc(0);

/** How a long answer ended, for whoever keeps account of its node. `left`: whoever it went to has had enough. */
export type StreamEnd = 'whole' | 'garbage' | 'lost' | 'left';

/** Hears of the end of a long answer, once. */
export interface StreamListener {
  readonly network: Network;
  readonly responseMaxBytes: number;
  onStreamEnd(end: StreamEnd): void;
}

/**
 * A long result on its way through. It is known by its two ends, as a large one is that is held whole for one caller alone
 * (upstream/answer.ts): what begins as Agave's results begin is passed on at once, but for its end; that says whether it was
 * the answer to our request, and nothing was cut off. Between them only the encoding is looked at.
 */
export class PassthroughResponse implements StreamedResponse, BodyListener {
  readonly bytes: number | null;
  readonly #tail: string;
  readonly #listener: StreamListener;
  readonly #utf8 = new Utf8Validator();
  readonly #firstByte: number | undefined;
  /** Bytes of the body that are still to come; more than that would be read as the next answer. */
  #remaining: number;
  /** Null once it is over. */
  #flow: BodyFlow | null;
  #reader: ResponseReader | null = null;
  /** What has come and was not passed on. */
  #buffered: Buffer;
  #isPaused = false;
  /** It failed before anybody read it. */
  #failure: Failure | null = null;

  /** @param start - begins as `mayBegin` wants it. @param bytes - of the whole body; null when nobody knows. */
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

  /** Whether a body that begins like this may be passed on while it comes. */
  static canStream(start: Buffer): boolean {
    if (start.length < RESULT_PREFIX.length + BUFFERED_MIN_BYTES || !matchesAt(start, 0, RESULT_PREFIX))
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
    this.#finish('left');
    flow.stop();
  }

  onData(bytes: Buffer): void {
    if (this.#flow === null) return;
    this.#remaining -= bytes.length;
    if (this.#remaining < 0 || !this.#utf8.add(bytes)) {
      this.#failInvalid();
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
      this.#fail('garbage', 'UPSTREAM_UNAVAILABLE');
      return false;
    }
    // A newline was counted as part of the result, since nobody knew of it: JSON allows for space in its place.
    const padding = this.bytes === null ? 0 : buffered.length - end - this.#tail.length;
    buffered.fill(SPACE, end, end + padding);
    const reader = this.#reader;
    this.#finish('whole');
    reader?.onEnd(buffered.subarray(0, end + padding));
    return true;
  }

  onError(exchange: Exchange): void {
    if (this.#flow === null) return;
    if (exchange.kind === 'too-large') this.#fail('left', 'ANSWER_TOO_LARGE');
    else if (exchange.kind === 'no-room') this.#fail('left', 'OVERLOADED');
    else if (exchange.kind === 'aborted') this.#fail('left', 'CLIENT_GONE');
    else if (exchange.kind === 'transport' && exchange.timedOut) this.#failStalled();
    else this.#fail('lost', 'UPSTREAM_UNAVAILABLE');
  }

  /** It stood still for too long: because of whoever it goes to, or else of the node. */
  #failStalled(): void {
    if (this.#isPaused || this.#reader === null) this.#fail('left', 'CLIENT_GONE');
    else this.#fail('lost', 'UPSTREAM_TIMEOUT');
  }

  /** Passes on what has come, but for what may be the end. */
  #forward(): void {
    const [buffered, reader] = [this.#buffered, this.#reader];
    if (reader === null || buffered.length <= BUFFERED_MAX_BYTES || this.#remaining === 0) return;
    const end = buffered.length - BUFFERED_MIN_BYTES;
    // A copy: its memory goes with the piece.
    this.#buffered = Buffer.from(buffered.subarray(end));
    reader.onData(buffered.subarray(0, end));
  }

  /** What comes is no text, or more than was announced: nothing more of it is wanted. */
  #failInvalid(): void {
    const flow = this.#flow;
    this.#fail('garbage', 'UPSTREAM_UNAVAILABLE');
    flow?.stop();
  }

  #fail(
    end: StreamEnd,
    code: 'UPSTREAM_UNAVAILABLE' | 'UPSTREAM_TIMEOUT' | 'ANSWER_TOO_LARGE' | 'OVERLOADED' | 'CLIENT_GONE',
  ): void {
    const { network, responseMaxBytes } = this.#listener;
    const facts = code === 'ANSWER_TOO_LARGE' ? { network, responseMaxBytes } : { network };
    const reader = this.#reader;
    this.#failure = new Failure(code, { facts, cause: new Error(`a long answer broke off: ${end}`) });
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
