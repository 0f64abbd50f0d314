import { Failure } from '../../protocol/errors.ts';
import type { ResponseReader, StreamedResponse } from '../../protocol/streamed-response.ts';

/** Hears how a long answer ended, once. */
export interface ResponseMeter {
  /** @param bytes - of the result, that were passed on. @param failure - why it broke off; null for one that is whole. */
  onStreamEnd(bytes: number, failure: Failure | null): void;
}

/** A long answer whose bytes are counted as they go by: its request ends with it. */
export class MeteredResponse implements StreamedResponse, ResponseReader {
  readonly #response: StreamedResponse;
  readonly #meter: ResponseMeter;
  #reader: ResponseReader | null = null;
  #bytes = 0;
  #isEnded = false;

  constructor(response: StreamedResponse, meter: ResponseMeter) {
    this.#response = response;
    this.#meter = meter;
  }

  get bytes(): number | null {
    return this.#response.bytes;
  }

  pipeTo(reader: ResponseReader): void {
    this.#reader = reader;
    this.#response.pipeTo(this);
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  cancel(): void {
    this.#response.cancel();
    this.#finish(new Failure('CLIENT_GONE'));
  }

  onData(bytes: Buffer): void {
    this.#bytes += bytes.length;
    this.#reader?.onData(bytes);
  }

  onEnd(last: Buffer): void {
    this.#bytes += last.length;
    this.#finish(null);
    this.#reader?.onEnd(last);
  }

  onError(failure: Failure): void {
    this.#finish(failure);
    this.#reader?.onError(failure);
  }

  #finish(failure: Failure | null): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#meter.onStreamEnd(this.#bytes, failure);
  }
}
