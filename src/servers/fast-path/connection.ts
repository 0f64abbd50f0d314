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
import { refuseSocket } from '../http/encode.ts';
import {
  type BatchReply,
  type EnvelopeCall,
  noLimits,
  pushOutcome,
  type Reply,
  type ResponseMemoryReservation,
  statusOfSingle,
} from '../rpc/calls.ts';
import { CallerReader } from './caller-reader.ts';
import type { FastHttpContext, OpenConnection } from './context.ts';
import { IncomingBody, NOT_FAST } from './decode.ts';
import { FastStreamWriter, type HeadPrefix, streamBodyBytes } from './encode.ts';
import type { FastSocket, SocketListener } from './socket.ts';

/**
 *      ┌──────────────────────────────────────────────────────────────────────────┐
 *      ▼                                                                          │
 *    IDLE ── head ──▶ BUSY ── response ──▶ FLUSHING ── flushed ───────────────────┤
 *      │                                              DISCARDING the rest of      ┘
 *      ▼                                              a refused body
 *    DETACHED: moved to node:http, or closing
 */
const [IDLE, BUSY, FLUSHING, DISCARDING, DETACHED] = [0, 1, 2, 3, 4];

/** Idle connections close this much later than the Keep-Alive header says, as in node:http: a request may be underway. */
const KEEP_ALIVE_MARGIN_MS = 1_000;
const BUFFERED_MAX_BYTES = 16 * 1024;
const NEVER = Number.POSITIVE_INFINITY;
const NOTHING = Buffer.alloc(0);

/**
 * One connection of the fast path with the state of its current request. It handles one request at a time and is itself
 * the responder, so that no object is allocated per request.
 */
export class FastConnection implements OpenConnection, SocketListener, Responder, StreamResponder {
  readonly #context: FastHttpContext;
  readonly #fastSocket: FastSocket;
  dueAt: number;
  #state = IDLE;
  #wasUsed = false;
  #keepAlive = true;
  #buffered: Buffer | null = null;
  /** `#readMessages` is on the stack; it continues with the bytes that remain. */
  #isReading = false;

  readonly #callers: CallerReader;
  readonly #body: IncomingBody;
  #caller: Caller | null = null;
  /** Valid only in the synchronous run in which the head was read. */
  #admitted: AdmittedRequest | null = null;
  #id: Buffer = NULL_ID;
  #isCounted = false;
  /** The request is complete and its response is outstanding. */
  #isPending = false;
  #pending: PendingCall | null = null;
  #reservation: ResponseMemoryReservation | null = null;

  constructor(context: FastHttpContext, fastSocket: FastSocket) {
    const { calls, clock, credentials, options } = context;
    this.#context = context;
    this.#fastSocket = fastSocket;
    this.#callers = new CallerReader(fastSocket.socket, calls.options.proxies, credentials);
    this.#body = new IncomingBody(calls.bodyBudget);
    this.dueAt = clock.dueIn(options.headersTimeoutMs);
  }

  get isIdle(): boolean {
    return this.#state === IDLE && this.#wasUsed;
  }

  /** A request has started and is incomplete. */
  get #isPartial(): boolean {
    return this.#state === DISCARDING || (this.#state === BUSY && !this.#isPending);
  }

  onData(bytes: Buffer, end: number): void {
    this.#readMessages(bytes, end, false);
  }

  #readMessages(bytes: Buffer, end: number, isPipelined: boolean): void {
    let at = 0;
    this.#isReading = true;
    try {
      while (at < end && (this.#state === IDLE || this.#isPartial)) {
        if (this.#state === IDLE) at = this.#readHead(bytes, at, end, isPipelined || at > 0);
        else if (this.#state === BUSY) at = this.#readBody(bytes, at, end);
        else {
          at = this.#body.discard(at, end);
          if (this.#body.missing === 0) this.#becomeIdle();
        }
      }
    } catch (thrown) {
      this.#fail(thrown);
      this.#close();
    }
    this.#isReading = false;
    if (at < end && this.#state !== DETACHED) this.#buffer(bytes.subarray(at, end));
  }

  #buffer(rest: Buffer): void {
    this.#buffered = this.#buffered === null ? Buffer.from(rest) : Buffer.concat([this.#buffered, rest]);
    if (this.#buffered.length > BUFFERED_MAX_BYTES) this.#fastSocket.socket.pause();
  }

  /** @returns the offset of the first unread byte, as do the other readers. */
  #readHead(bytes: Buffer, at: number, end: number, isPipelined: boolean): number {
    const { clock, head, options } = this.#context;
    const headEnd = head.read(bytes, at, end);
    if (headEnd === NOT_FAST || !this.#isEligible(bytes)) {
      const rest = Buffer.from(bytes.subarray(at, end));
      this.#state = DETACHED;
      this.#context.onConnectionEnd(this);
      this.#context.fallback.adopt(this.#fastSocket.detach(), rest, isPipelined);
      return end;
    }
    this.#state = BUSY;
    this.#keepAlive = head.keepAlive;
    this.dueAt = clock.dueIn(options.requestTimeoutMs);
    this.#isCounted = true;
    this.#context.onRequestStart();
    this.#body.start(head.contentLength);
    const refusal = this.#admit(bytes);
    if (refusal !== null) {
      const stop = this.#body.discard(headEnd, end);
      this.#refuse(refusal, noLimits);
      return stop;
    }
    return this.#readBody(bytes, headEnd, end);
  }

  #isEligible(bytes: Buffer): boolean {
    const { calls, head, hostCheck, options } = this.#context;
    const { contentLength } = head;
    if (contentLength > options.bodyMaxBytes || contentLength > calls.options.bodyMaxBytes) return false;
    return hostCheck.isValid(head, bytes);
  }

  #admit(bytes: Buffer): Failure | null {
    const { fallback, calls, head, options, contentTypes } = this.#context;
    if (fallback.inFlight > options.requestsInFlightMax) return new Failure('OVERLOADED');
    this.#caller = this.#callers.read(head, bytes);
    const { isPresent, start, end } = head.contentType;
    const admitted = calls.admit(isPresent ? contentTypes.of(bytes, start, end) : undefined, this.#caller);
    if (admitted instanceof Failure) return admitted;
    this.#admitted = admitted;
    return null;
  }

  #readBody(bytes: Buffer, at: number, end: number): number {
    const stop = this.#receive(bytes, at, end);
    if (this.#state === BUSY && this.#isPending) {
      this.dueAt = this.#context.clock.dueIn(this.#context.options.idleTimeoutMs);
    }
    return stop;
  }

  #receive(bytes: Buffer, at: number, end: number): number {
    const admitted = this.#admitted;
    this.#admitted = null;
    const stop = Math.min(end, at + this.#body.missing);
    if (stop === at && this.#body.missing > 0) return at;
    const { calls } = this.#context;
    const caller = this.#caller as Caller;
    let body: Buffer | null = null;
    try {
      body = this.#body.append(bytes, at, stop);
      if (body !== null) this.#dispatch(calls.decode(body), caller, admitted);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      const outcome = calls.recordInvalidRequest(thrown, body?.length ?? 0, NULL_ID, caller, admitted);
      this.#refuse(outcome.failure ?? thrown, outcome);
    }
    return stop;
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
    // The response, or its first part, may have come before `dispatch` returned.
    if (this.#isPending) this.#pending ??= pending;
  }

  #dispatchBatch(envelope: Envelope, caller: Caller): void {
    const controller = new AbortController();
    this.#pending = { cancel: () => controller.abort() };
    this.#context.calls
      .handleBatch(envelope, caller, controller.signal)
      .then((reply) => this.#sendBatchReply(reply))
      .catch((thrown: unknown) => this.#fail(thrown));
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
    const { socket } = this.#fastSocket;
    const { fallback, options, writer } = this.#context;
    const closes = !this.#keepAlive || fallback.draining;
    this.#state = FLUSHING;
    this.dueAt = NEVER;
    socket.setTimeout(options.idleTimeoutMs);
    // Head and first part leave in one write.
    socket.cork();
    const bytes = streamBodyBytes(response, this.#id);
    writer.writeStreamHead(socket, writer.prefixFor(statusOfSingle(null)), limits, bytes, closes);
    new FastStreamWriter(response, socket, this.#id, () => {
      socket.setTimeout(0);
      this.#onWritten(closes);
    }).start();
    socket.uncork();
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
    this.#send(this.#context.writer.prefixFor(statusOfSingle(ending)), limits, ending, pieces);
  }

  #refuse(failure: Failure, limits: LimitStatus): void {
    const pieces = this.#context.pieces();
    pushFailure(pieces, failure, NULL_ID);
    this.#send(this.#context.writer.prefixForRefusal(failure), limits, failure, endSingle(pieces));
  }

  #fail(thrown: unknown): void {
    this.#context.log.error({ err: thrown }, 'Request failed unexpectedly');
    if (this.#isCounted) this.#refuse(new Failure('INTERNAL'), noLimits);
  }

  #send(prefix: HeadPrefix, limits: LimitStatus, failure: Failure | null, pieces: readonly Buffer[]): void {
    this.#isPending = false;
    this.#pending = null;
    const { fallback, writer } = this.#context;
    const closes = !this.#keepAlive || fallback.draining;
    this.#state = FLUSHING;
    writer.write(this.#fastSocket.socket, prefix, limits, failure?.retryAfter, pieces, closes);
    this.#onWritten(closes);
  }

  #onWritten(closes: boolean): void {
    const { socket } = this.#fastSocket;
    if (closes) {
      this.#close();
    } else if (socket.writableLength === 0) {
      this.#onFlushed();
    } else {
      // The socket's own timeout sees progress within a write; the sweep does not.
      this.dueAt = NEVER;
      socket.setTimeout(this.#context.options.idleTimeoutMs);
      socket.write(NOTHING, () => {
        if (this.#state !== FLUSHING) return;
        socket.setTimeout(0);
        this.#onFlushed();
      });
    }
  }

  #onFlushed(): void {
    this.#wasUsed = true;
    this.#settle();
    if (this.#body.missing > 0) {
      this.#state = DISCARDING;
      this.dueAt = this.#context.clock.dueIn(this.#context.options.requestTimeoutMs);
    } else {
      this.#becomeIdle();
    }
    if (this.#buffered !== null && !this.#isReading) this.#resume(this.#buffered);
  }

  #becomeIdle(): void {
    this.#state = IDLE;
    this.dueAt = this.#context.clock.dueIn(this.#context.options.keepAliveTimeoutMs + KEEP_ALIVE_MARGIN_MS);
  }

  #resume(buffered: Buffer): void {
    this.#buffered = null;
    this.#readMessages(buffered, buffered.length, true);
    if (buffered.length <= BUFFERED_MAX_BYTES || this.#state === DETACHED) return;
    if (this.#buffered === null || (this.#buffered as Buffer).length <= BUFFERED_MAX_BYTES)
      this.#fastSocket.socket.resume();
  }

  #close(): void {
    this.#state = DETACHED;
    this.dueAt = NEVER;
    const { socket } = this.#fastSocket;
    if (socket.writableLength > 0) socket.setTimeout(this.#context.options.idleTimeoutMs);
    socket.destroySoon();
  }

  #refusePartial(code: 'MALFORMED_HTTP' | 'REQUEST_TIMEOUT'): void {
    refuseSocket(this.#fastSocket.socket, new Failure(code));
    this.#close();
  }

  onEnd(): void {
    if (this.#isPartial) {
      this.#refusePartial('MALFORMED_HTTP');
      return;
    }
    this.#cancel();
    this.#close();
  }

  onClose(): void {
    this.#state = DETACHED;
    this.#cancel();
    this.#settle();
    this.#context.onConnectionEnd(this);
  }

  onTimeout(): void {
    const isSilent = this.#state === IDLE && !this.#wasUsed;
    if (isSilent || (this.#state === BUSY && this.#isPartial)) this.#refusePartial('REQUEST_TIMEOUT');
    else this.destroy();
  }

  destroy(): void {
    this.#fastSocket.socket.destroy();
  }

  #cancel(): void {
    const pending = this.#pending;
    this.#isPending = false;
    this.#pending = null;
    pending?.cancel();
  }

  #settle(): void {
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
