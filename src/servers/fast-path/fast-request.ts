import type { PendingCall } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Envelope, EnvelopeItem } from '../../protocol/request-envelope.ts';
import type {
  AdmittedRequest,
  Caller,
  LimitStatus,
  Outcome,
  Responder,
  StreamResponder,
} from '../../protocol/request-handler.ts';
import { endSingle, NULL_ID, pushFailure } from '../../protocol/response-envelope.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import { type BatchReply, type EnvelopeCall, noLimits, pushOutcome, type Reply } from '../rpc/calls.ts';
import { statusOfSingle } from '../rpc/errors.ts';
import type { ResponseMemoryReservation } from '../rpc/response-memory.ts';
import { CallerReader } from './caller-reader.ts';
import type { FastHttpContext } from './fast-http-context.ts';
import type { FastSocket } from './fast-socket.ts';
import { IncomingBody } from './incoming-body.ts';
import type { HeadPrefix } from './response-writer.ts';

/** Writes the answer to a request; once for each. */
export interface ResponseTarget {
  writeResponse(
    prefix: HeadPrefix,
    limits: LimitStatus,
    retryAfter: number | undefined,
    pieces: readonly Buffer[],
  ): void;
  /** The same of a long result, which is written while it comes. @param id - of the request. */
  writeStream(prefix: HeadPrefix, limits: LimitStatus, response: StreamedResponse, id: Buffer): void;
}

/**
 * The request of a connection, from its head to what is answered. There is one for each connection, which is used again
 * for each request and hears itself what becomes of its call, so that nothing is made for one.
 */
export class FastRequest implements Responder, StreamResponder {
  readonly #context: FastHttpContext;
  readonly #target: ResponseTarget;
  readonly #callers: CallerReader;
  readonly #body: IncomingBody;
  #caller: Caller | null = null;
  /** Only within the turn in which its head was read. */
  #admitted: AdmittedRequest | null = null;
  #id: Buffer = NULL_ID;
  #isCounted = false;
  #isPending = false;
  #pending: PendingCall | null = null;
  /** What its answer holds until it has left. */
  #reservation: ResponseMemoryReservation | null = null;

  constructor(context: FastHttpContext, { socket }: FastSocket, target: ResponseTarget) {
    this.#context = context;
    this.#target = target;
    this.#callers = new CallerReader(socket, context.calls.options.proxies, context.credentials);
    this.#body = new IncomingBody(context.calls.bodyBudget);
  }

  /** Bytes of its body that are still to come. */
  get missing(): number {
    return this.#body.missing;
  }

  /** Whether its answer is waited for. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** Begins with the head that was read last. */
  start(): void {
    this.#isCounted = true;
    this.#context.onRequestStart();
    this.#body.start(this.#context.head.contentLength);
  }

  /** Why it gets no further than its head, which stands in these bytes; null when its body is wanted. */
  refusalOf(bytes: Buffer): Failure | null {
    const { fallback, calls, head, options, contentTypes } = this.#context;
    if (fallback.inFlight > options.requestsInFlightMax) return new Failure('OVERLOADED');
    this.#caller = this.#callers.read(head, bytes);
    const { isPresent, start, end } = head.contentType;
    const admitted = calls.admit(isPresent ? contentTypes.of(bytes, start, end) : undefined, this.#caller);
    if (admitted instanceof Failure) return admitted;
    this.#admitted = admitted;
    return null;
  }

  /**
   * Takes what there is of its body, and goes on its way when that is all. To be called in the turn of its head, even if
   * nothing is there yet.
   * @returns how far that goes.
   */
  receive(bytes: Buffer, at: number, end: number): number {
    const admitted = this.#admitted;
    this.#admitted = null;
    const stop = Math.min(end, at + this.#body.missing);
    if (stop === at && this.#body.missing > 0) return at;
    let body: Buffer | null = null;
    try {
      body = this.#body.append(bytes, at, stop);
      if (body !== null) this.#dispatch(this.#context.calls.decode(body), this.#caller as Caller, admitted);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      this.#refuseBody(thrown, body?.length ?? 0, this.#caller as Caller, admitted);
    }
    return stop;
  }

  /** Refuses a body that holds no calls; it is counted as one. */
  #refuseBody(fault: Failure, bytes: number, caller: Caller, admitted: AdmittedRequest | null): void {
    const outcome = this.#context.calls.recordInvalidRequest(fault, bytes, NULL_ID, caller, admitted);
    this.refuse(outcome.failure ?? fault, outcome);
  }

  /** Throws away what there is of the body of a request that was refused. @returns how far that goes. */
  discard(at: number, end: number): number {
    return this.#body.discard(at, end);
  }

  #dispatch(envelope: Envelope, caller: Caller, admitted: AdmittedRequest | null): void {
    this.#isPending = true;
    const item = envelope.items[0] as EnvelopeItem;
    if (envelope.batch) this.#dispatchBatch(envelope, caller);
    else if (item.kind === 'call') this.#dispatchCall(item, caller, admitted);
    else this.#sendReply(this.#context.calls.replyToSingle(item, caller, admitted));
  }

  #dispatchCall(call: EnvelopeCall, caller: Caller, admitted: AdmittedRequest | null): void {
    this.#id = call.id;
    const pending = this.#context.calls.dispatch(call, caller, this, admitted);
    // It may have been answered before there was anything to leave, or have begun to be.
    if (this.#isPending) this.#pending ??= pending;
  }

  respond(outcome: Outcome): void {
    if (!this.#isPending) return;
    const reservation = this.#context.calls.reserveFor(outcome);
    if (reservation instanceof Failure) {
      this.#sendOutcome({ ...outcome, response: null, failure: reservation });
      return;
    }
    this.#reservation = reservation;
    this.#sendOutcome(outcome);
  }

  #sendOutcome(outcome: Outcome): void {
    const { failure } = outcome;
    const pieces = this.#context.pieces();
    pushOutcome(pieces, outcome, this.#id);
    this.#send(this.#context.writer.prefixFor(statusOfSingle(failure)), outcome, failure, endSingle(pieces));
  }

  get stream(): StreamResponder {
    return this;
  }

  respondStream(response: StreamedResponse, limits: LimitStatus): void {
    if (!this.#isPending) {
      response.cancel();
      return;
    }
    this.#pending = response;
    this.#target.writeStream(
      this.#context.writer.prefixFor(statusOfSingle(null)),
      limits,
      response,
      this.#id,
    );
  }

  #dispatchBatch(envelope: Envelope, caller: Caller): void {
    const controller = new AbortController();
    this.#pending = { cancel: () => controller.abort() };
    this.#context.calls
      .handleBatch(envelope, caller, controller.signal)
      .then((reply) => this.#sendBatchReply(reply))
      .catch((thrown: unknown) => this.fail(thrown));
  }

  #sendBatchReply(reply: BatchReply): void {
    if (this.#isPending) {
      this.#reservation = reply.reservation;
      this.#sendReply(reply);
    } else {
      reply.reservation.release();
    }
  }

  #sendReply({ pieces, ending, limits }: Reply): void {
    if (!this.#isPending) return;
    this.#send(this.#context.writer.prefixFor(statusOfSingle(ending)), limits, ending, pieces);
  }

  /** Answers the request as a whole. */
  refuse(failure: Failure, limits: LimitStatus = noLimits): void {
    const pieces = this.#context.pieces();
    pushFailure(pieces, failure, NULL_ID);
    this.#send(this.#context.writer.prefixForRefusal(failure), limits, failure, endSingle(pieces));
  }

  /** Our own fault, of which the client learns no more than that. */
  fail(thrown: unknown): void {
    this.#context.log.error({ err: thrown }, 'a request went wrong');
    if (this.#isCounted) this.refuse(new Failure('INTERNAL'));
  }

  #send(prefix: HeadPrefix, limits: LimitStatus, failure: Failure | null, pieces: readonly Buffer[]): void {
    this.#isPending = false;
    this.#pending = null;
    this.#target.writeResponse(prefix, limits, failure?.retryAfter, pieces);
  }

  /** Nobody waits for its answer any more. */
  cancel(): void {
    const pending = this.#pending;
    this.#isPending = false;
    this.#pending = null;
    pending?.cancel();
  }

  /** It has ended: gives back what it took. */
  settle(): void {
    this.#isPending = false;
    this.#pending = null;
    this.#caller = null;
    this.#id = NULL_ID;
    this.#body.release();
    this.#reservation?.release();
    this.#reservation = null;
    if (this.#isCounted) this.#context.onRequestEnd();
    this.#isCounted = false;
  }
}
