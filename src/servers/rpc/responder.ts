import type { ServerResponse } from 'node:http';
import { bufferPool } from '../../http/buffer-pool.ts';
import { Failure } from '../../protocol/errors.ts';
import type { LimitStatus, Outcome, Responder, StreamResponder } from '../../protocol/request-handler.ts';
import { endSingle, resultPrefix, resultSuffix } from '../../protocol/response-envelope.ts';
import type { ResponseReader, StreamedResponse } from '../../protocol/streamed-response.ts';
import { pushOutcome, type RpcCalls, statusOfSingle } from './calls.ts';
import { type HeaderList, JOIN_MAX_BYTES, responseHeaders, send } from './encode.ts';

export class SingleCallResponder implements Responder, StreamResponder {
  readonly stream: StreamResponder = this;
  readonly #calls: RpcCalls;
  readonly #response: ServerResponse;
  readonly #id: Buffer;

  constructor(calls: RpcCalls, response: ServerResponse, id: Buffer) {
    this.#calls = calls;
    this.#response = response;
    this.#id = id;
  }

  respond(outcome: Outcome): void {
    if (this.#response.destroyed) return;
    const { response } = outcome;
    const isLarge = response !== null && response.body.length > JOIN_MAX_BYTES;
    const reservation = isLarge ? this.#calls.reserve(response) : null;
    if (reservation instanceof Failure) {
      this.#send({ ...outcome, response: null, failure: reservation });
      return;
    }
    reservation?.releaseAfter(this.#response);
    this.#send(outcome);
  }

  #send(outcome: Outcome): void {
    const { failure } = outcome;
    const pieces: Buffer[] = [];
    pushOutcome(pieces, outcome, this.#id);
    const headers = responseHeaders(outcome, failure?.retryAfter);
    send(this.#response, statusOfSingle(failure), headers, endSingle(pieces));
  }

  respondStream(source: StreamedResponse, limits: LimitStatus): void {
    if (this.#response.destroyed) source.cancel();
    else new ResponseStreamWriter(source, this.#response, this.#id).start(responseHeaders(limits, undefined));
  }
}

/** Writes a streamed result. On error, closes the connection: the client detects the missing bytes or last chunk. */
class ResponseStreamWriter implements ResponseReader {
  readonly #source: StreamedResponse;
  readonly #response: ServerResponse;
  readonly #suffix: Buffer;

  constructor(source: StreamedResponse, response: ServerResponse, id: Buffer) {
    this.#source = source;
    this.#response = response;
    this.#suffix = resultSuffix(id);
  }

  start(headers: HeaderList): void {
    const response = this.#response;
    const prefix = resultPrefix();
    const { bytes } = this.#source;
    if (bytes !== null) headers.push('content-length', String(prefix.length + bytes + this.#suffix.length));
    response.writeHead(200, headers);
    response.write(prefix);
    response.on('drain', () => this.#source.resume());
    response.on('close', () => this.#source.cancel());
    this.#source.pipeTo(this);
  }

  onData(bytes: Buffer): void {
    if (!this.#write(bytes)) this.#source.pause();
  }

  onEnd(last: Buffer): void {
    this.#write(last);
    this.#response.end(this.#suffix);
  }

  onError(): void {
    this.#response.destroy();
  }

  #write(bytes: Buffer): boolean {
    return this.#response.write(bytes, (error) => {
      // After a failed write, the kernel may still read the buffer.
      if (error == null) bufferPool.release(bytes);
    });
  }
}
