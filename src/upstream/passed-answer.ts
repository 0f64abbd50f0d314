import { standsAt } from '../base/short-bytes.ts';
import { lentPieces } from '../http1/lent-pieces.ts';
import type { Network } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import type { LongAnswer, LongReader } from '../protocol/long-answer.ts';
import { areEnds, RESULT_FIRST, tailOf, tailStart } from './answer-ends.ts';
import type { BodyFlow, BodySink, Exchange } from './exchange.ts';
import { Utf8Pieces } from './utf8-pieces.ts';

/** Longer than any tail: so much is always held back, so that the end is seen before it is passed on. */
const HELD_MIN_BYTES = 64;
/** More than this is not held back, but for the last piece. */
const HELD_MAX_BYTES = 4096;
const SPACE = 0x20;
const NONE = Buffer.alloc(0);

/** How a long answer ended, for whoever keeps account of its node. `left`: whoever it went to has had enough. */
export type LongEnd = 'whole' | 'garbage' | 'lost' | 'left';

/** Hears of the end of a long answer, once. */
export interface LongOwner {
  readonly network: Network;
  readonly answerMaxBytes: number;
  longEnded(end: LongEnd): void;
}

/**
 * A long result on its way through. It is known by its two ends, as a large one is that is held whole for one caller alone
 * (upstream/answer.ts): what begins as Agave's results begin is passed on at once, but for its end; that says whether it was
 * the answer to our request, and nothing was cut off. Between them only the encoding is looked at.
 */
export class PassedAnswer implements LongAnswer, BodySink {
  readonly bytes: number | null;
  readonly #tail: string;
  readonly #owner: LongOwner;
  readonly #utf8 = new Utf8Pieces();
  readonly #first: number | undefined;
  /** Bytes of the body that are still to come; more than that would be read as the next answer. */
  #missing: number;
  /** Null once it is over. */
  #flow: BodyFlow | null;
  #reader: LongReader | null = null;
  /** What has come and was not passed on. */
  #held: Buffer;
  #isPaused = false;
  /** It failed before anybody read it. */
  #failure: Failure | null = null;

  /** @param start - begins as `mayBegin` wants it. @param bytes - of the whole body; null when nobody knows. */
  constructor(start: Buffer, bytes: number | null, id: number, flow: BodyFlow, owner: LongOwner) {
    this.#tail = tailOf(id);
    this.#owner = owner;
    this.#flow = flow;
    this.#held = start.subarray(RESULT_FIRST.length);
    this.#first = this.#held[0];
    this.bytes = bytes === null ? null : bytes - RESULT_FIRST.length - this.#tail.length;
    this.#utf8.add(start);
    this.#missing = bytes === null ? Number.POSITIVE_INFINITY : bytes - start.length;
  }

  /** Whether a body that begins like this may be passed on while it comes. */
  static mayBegin(start: Buffer): boolean {
    if (start.length < RESULT_FIRST.length + HELD_MIN_BYTES || !standsAt(start, 0, RESULT_FIRST))
      return false;
    const first = start[RESULT_FIRST.length];
    return first === 0x7b || first === 0x5b || first === 0x22;
  }

  readInto(reader: LongReader): void {
    this.#reader = reader;
    if (this.#failure !== null) {
      reader.failed(this.#failure);
      return;
    }
    this.#pass();
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

  leave(): void {
    const flow = this.#flow;
    if (flow === null) return;
    this.#over('left');
    flow.stop();
  }

  piece(bytes: Buffer): void {
    if (this.#flow === null) return;
    this.#missing -= bytes.length;
    if (this.#missing < 0 || !this.#utf8.add(bytes)) {
      this.#breakOff();
      return;
    }
    this.#held = lentPieces.behind(this.#held, bytes);
    this.#pass();
  }

  ended(): boolean {
    if (this.#flow === null) return true;
    const held = this.#held;
    const end = tailStart(held, this.#tail);
    if (end < 1 || !areEnds(this.#first, held[end - 1]) || !this.#utf8.isWhole) {
      this.#fail('garbage', 'UPSTREAM_UNAVAILABLE');
      return false;
    }
    // A newline was counted as part of the result, since nobody knew of it: JSON allows for space in its place.
    const missing = this.bytes === null ? 0 : held.length - end - this.#tail.length;
    held.fill(SPACE, end, end + missing);
    const reader = this.#reader;
    this.#over('whole');
    reader?.ended(held.subarray(0, end + missing));
    return true;
  }

  failed(exchange: Exchange): void {
    if (this.#flow === null) return;
    if (exchange.kind === 'too-large') this.#fail('left', 'ANSWER_TOO_LARGE');
    else if (exchange.kind === 'no-room') this.#fail('left', 'OVERLOADED');
    else if (exchange.kind === 'aborted') this.#fail('left', 'CLIENT_GONE');
    else if (exchange.kind === 'transport' && exchange.timedOut) this.#failLate();
    else this.#fail('lost', 'UPSTREAM_UNAVAILABLE');
  }

  /** It stood still for too long: because of whoever it goes to, or else of the node. */
  #failLate(): void {
    if (this.#isPaused || this.#reader === null) this.#fail('left', 'CLIENT_GONE');
    else this.#fail('lost', 'UPSTREAM_TIMEOUT');
  }

  /** Passes on what has come, but for what may be the end. */
  #pass(): void {
    const [held, reader] = [this.#held, this.#reader];
    if (reader === null || held.length <= HELD_MAX_BYTES || this.#missing === 0) return;
    const end = held.length - HELD_MIN_BYTES;
    // A copy: its memory goes with the piece.
    this.#held = Buffer.from(held.subarray(end));
    reader.piece(held.subarray(0, end));
  }

  /** What comes is no text, or more than was announced: nothing more of it is wanted. */
  #breakOff(): void {
    const flow = this.#flow;
    this.#fail('garbage', 'UPSTREAM_UNAVAILABLE');
    flow?.stop();
  }

  #fail(
    end: LongEnd,
    code: 'UPSTREAM_UNAVAILABLE' | 'UPSTREAM_TIMEOUT' | 'ANSWER_TOO_LARGE' | 'OVERLOADED' | 'CLIENT_GONE',
  ): void {
    const { network, answerMaxBytes } = this.#owner;
    const facts = code === 'ANSWER_TOO_LARGE' ? { network, answerMaxBytes } : { network };
    const reader = this.#reader;
    this.#failure = new Failure(code, { facts, cause: new Error(`a long answer broke off: ${end}`) });
    this.#over(end);
    reader?.failed(this.#failure);
  }

  #over(end: LongEnd): void {
    this.#flow = null;
    this.#reader = null;
    this.#held = NONE;
    this.#owner.longEnded(end);
  }
}
