import type { ServerResponse } from 'node:http';
import { Failure } from '../../protocol/errors.ts';
import type { LimitStatus, Outcome, Responder, StreamResponder } from '../../protocol/request-handler.ts';
import { endSingle } from '../../protocol/response-envelope.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import { pushOutcome, type RpcCalls } from './calls.ts';
import { responseHeaders, send } from './encode.ts';
import { statusOfSingle } from './errors.ts';
import { ResponseStreamWriter } from './response-stream-writer.ts';

/** Responder of a single call on node:http. */
export class SingleCallResponder implements Responder, StreamResponder {
  readonly #calls: RpcCalls;
  readonly #response: ServerResponse;
  readonly #id: Buffer;

  constructor(calls: RpcCalls, response: ServerResponse, id: Buffer) {
    this.#calls = calls;
    this.#response = response;
    this.#id = id;
  }

  get stream(): StreamResponder {
    return this;
  }

  respond(outcome: Outcome): void {
    if (this.#response.destroyed) return;
    const reservation = this.#calls.reserveFor(outcome);
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
