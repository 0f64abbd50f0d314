import { Failure } from '../protocol/errors.ts';
import type { LongAnswer, LongReader } from '../protocol/long-answer.ts';

/** Hears how a long answer ended, once. */
export interface LongMeter {
  /** @param bytes - of the result, that were passed on. @param failure - why it broke off; null for one that is whole. */
  longEnded(bytes: number, failure: Failure | null): void;
}

/** A long answer whose bytes are counted as they go by: its request ends with it. */
export class MeteredLong implements LongAnswer, LongReader {
  readonly #answer: LongAnswer;
  readonly #meter: LongMeter;
  #reader: LongReader | null = null;
  #bytes = 0;
  #isOver = false;

  constructor(answer: LongAnswer, meter: LongMeter) {
    this.#answer = answer;
    this.#meter = meter;
  }

  get bytes(): number | null {
    return this.#answer.bytes;
  }

  readInto(reader: LongReader): void {
    this.#reader = reader;
    this.#answer.readInto(this);
  }

  pause(): void {
    this.#answer.pause();
  }

  resume(): void {
    this.#answer.resume();
  }

  leave(): void {
    this.#answer.leave();
    this.#end(new Failure('CLIENT_GONE'));
  }

  piece(bytes: Buffer): void {
    this.#bytes += bytes.length;
    this.#reader?.piece(bytes);
  }

  ended(last: Buffer): void {
    this.#bytes += last.length;
    this.#end(null);
    this.#reader?.ended(last);
  }

  failed(failure: Failure): void {
    this.#end(failure);
    this.#reader?.failed(failure);
  }

  #end(failure: Failure | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#meter.longEnded(this.#bytes, failure);
  }
}
