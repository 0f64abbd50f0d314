import { Socket } from 'node:net';
import type { PendingCall } from '../../protocol/call.ts';
import type { ClientInfo } from '../../protocol/client-info.ts';
import { Failure } from '../../protocol/errors.ts';
import { decodeEnvelope, type Envelope, type EnvelopeItem } from '../../protocol/request-envelope.ts';
import type {
  AdmittedRequest,
  Caller,
  LimitStatus,
  Outcome,
  Responder,
  StreamResponder,
} from '../../protocol/request-handler.ts';
import {
  endSingle,
  NULL_ID,
  pushFailure,
  pushResponse,
  resultPrefix,
  resultSuffix,
} from '../../protocol/response-envelope.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import type { CompressedResponse, ContentCoding } from '../compression.ts';
import { isValidHost } from '../http/decode.ts';
import { rejectSocket } from '../http/encode.ts';
import { type BatchReply, noLimits, type Reply, type ResponseMemoryReservation } from '../rpc/calls.ts';
import { JOIN_MAX_BYTES } from '../rpc/encode.ts';
import { CallerReader } from './caller-reader.ts';
import type { FastHttpContext, OpenConnection } from './context.ts';
import { IncomingBody, NOT_FAST } from './decode.ts';
import { type HeadPrefix, writeStream } from './encode.ts';

/**
 *      ┌──────────────────────────────────────────────────────────────────────────┐
 *      ▼                                                                          │
 *    IDLE ── head ──▶ BUSY ── response ──▶ FLUSHING ── flushed ───────────────────┤
 *      │                                              DISCARDING the rest of      ┘
 *      ▼                                              a rejected body
 *    DETACHED: moved to node:http, or closing
 */
const [IDLE, BUSY, FLUSHING, DISCARDING, DETACHED] = [0, 1, 2, 3, 4];

/** As in node:http, the server waits this much longer than its Keep-Alive header says, for a request in transit. */
const KEEP_ALIVE_MARGIN_MS = 1_000;
const BUFFERED_MAX_BYTES = 16 * 1024;
const NEVER = Number.POSITIVE_INFINITY;
const NOTHING = Buffer.alloc(0);

/** Internals of node:net sockets. Undocumented, so their presence is checked before use. */
type Handle = Readonly<{ readStart(): number; useUserBuffer(buffer: Uint8Array): void }>;
type SocketInternals = { _handle?: Handle | null; _server?: object | null; server?: object | null };

/** Read buffer shared by all connections, which copy the bytes they need later. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Handles one request at a time and is itself the responder, so that no object is allocated per request.
 * Reads into the shared buffer if the runtime supports it, otherwise from `data` events, which cost more.
 */
export class FastConnection implements OpenConnection, Responder, StreamResponder {
  readonly stream: StreamResponder = this;
  readonly #context: FastHttpContext;
  readonly #isShared: boolean;
  readonly #socket: Socket;
  dueAt: number;
  #state = IDLE;
  #wasUsed = false;
  #keepAlive = true;
  #buffered: Buffer | null = null;
  /** Whether `#read` is on the stack; if so, it continues with the remaining bytes. */
  #isReading = false;

  readonly #callers: CallerReader;
  readonly #body: IncomingBody;
  #caller: Caller | null = null;
  /** Valid only during the `#read` call that read the head. */
  #admitted: AdmittedRequest | null = null;
  #id: Buffer = NULL_ID;
  /** Accept-Encoding header of the request; undefined: none. */
  #accepted: string | undefined;
  #isCounted = false;
  /** Whether the request is complete and its response is outstanding. */
  #isPending = false;
  #pending: PendingCall | null = null;
  #reservation: ResponseMemoryReservation | null = null;

  /** @param from - must not have been read from, and must not be used afterwards. */
  constructor(context: FastHttpContext, from: Socket) {
    const { calls, credentials, options } = context;
    this.#context = context;
    this.dueAt = context.now + options.headersTimeoutMs;
    this.#isShared = options.sharesReads && isMovable(from);
    this.#socket = this.#isShared ? moveHandle(from, this.#onShared) : from;
    this.#callers = new CallerReader(this.#socket, calls.options.proxies, credentials);
    this.#body = new IncomingBody(calls.bodyBudget);
    for (const [name, listener] of this.#listeners) this.#socket.on(name, listener);
    if (!this.#isShared) this.#socket.on('data', this.#onData);
  }

  readonly #onShared = (end: number): boolean => {
    this.#read(shared, end, false);
    return true;
  };
  readonly #listeners: readonly (readonly [string, () => void])[] = [
    ['error', () => {}],
    ['timeout', () => this.destroy()],
    ['end', () => this.#onEnd()],
    ['close', () => this.#onClose()],
  ];
  readonly #onData = (bytes: Buffer): void => this.#read(bytes, bytes.length, false);

  /** @returns an ordinary socket without this class's listeners. */
  #detach(): Socket {
    const socket = this.#socket;
    for (const [name, listener] of this.#listeners) socket.off(name, listener);
    socket.off('data', this.#onData);
    if (!this.#isShared) return socket;
    // The handle still reads into the shared buffer, so push the data to the socket manually.
    const to: Socket = moveHandle(socket, (end) => to.push(Buffer.from(shared.subarray(0, end))));
    return to;
  }

  get isIdle(): boolean {
    return this.#state === IDLE && this.#wasUsed;
  }

  #read(bytes: Buffer, end: number, isPipelined: boolean): void {
    let at = 0;
    this.#isReading = true;
    try {
      for (;;) {
        const isBodyMissing = this.#state === BUSY && !this.#isPending;
        if (isBodyMissing && (at < end || this.#body.missing === 0)) at = this.#readBody(bytes, at, end);
        else if (at >= end) break;
        else if (this.#state === IDLE) at = this.#readHead(bytes, at, end, isPipelined || at > 0);
        else if (this.#state !== DISCARDING) break;
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
    this.#admitted = null;
    if (at < end && this.#state !== DETACHED) this.#buffer(bytes.subarray(at, end));
  }

  #buffer(rest: Buffer): void {
    this.#buffered = this.#buffered === null ? Buffer.from(rest) : Buffer.concat([this.#buffered, rest]);
    if (this.#buffered.length > BUFFERED_MAX_BYTES) this.#socket.pause();
  }

  /** @returns the offset of the first unread byte, like the other read methods. */
  #readHead(bytes: Buffer, at: number, end: number, isPipelined: boolean): number {
    const { calls, head, hosts, options } = this.#context;
    const headEnd = head.read(bytes, at, end);
    const maxBytes = Math.min(options.bodyMaxBytes, calls.options.bodyMaxBytes);
    const isFast = headEnd !== NOT_FAST && head.contentLength <= maxBytes;
    const host = isFast ? hosts.of(bytes, head.host.start, head.host.end) : null;
    // The last valid host need not be checked again.
    if (host === null || (host !== this.#context.validHost && !isValidHost(host))) {
      const rest = Buffer.from(bytes.subarray(at, end));
      this.#state = DETACHED;
      this.#context.onConnectionEnd(this);
      this.#context.fallback.adopt(this.#detach(), rest, isPipelined);
      return end;
    }
    this.#context.validHost = host;
    this.#state = BUSY;
    this.#keepAlive = head.keepAlive;
    this.dueAt = this.#context.now + options.requestTimeoutMs;
    this.#isCounted = true;
    this.#context.load.inFlight++;
    this.#body.missing = head.contentLength;
    const rejection = this.#admit(bytes);
    if (rejection === null) return headEnd;
    const stop = this.#body.discard(headEnd, end);
    this.#reject(rejection, noLimits);
    return stop;
  }

  #admit(bytes: Buffer): Failure | null {
    const { load, calls, head, options, contentTypes, acceptEncodings } = this.#context;
    if (load.inFlight > options.requestsInFlightMax) return new Failure('OVERLOADED');
    const caller = this.#callers.read(head, bytes);
    const { contentType, acceptEncoding: accept } = head;
    this.#accepted = accept.isPresent ? acceptEncodings.of(bytes, accept.start, accept.end) : undefined;
    const { isPresent, start, end } = contentType;
    const admitted = calls.admit(isPresent ? contentTypes.of(bytes, start, end) : undefined, caller);
    this.#caller = caller;
    if (admitted instanceof Failure) return admitted;
    this.#admitted = admitted;
    return null;
  }

  #readBody(bytes: Buffer, at: number, end: number): number {
    const admitted = this.#admitted;
    this.#admitted = null;
    const stop = Math.min(end, at + this.#body.missing);
    const { calls, options } = this.#context;
    const caller = this.#caller as Caller;
    let body: Buffer | null = null;
    try {
      body = this.#body.append(bytes, at, stop);
      if (body === null) return stop;
      const envelope = decodeEnvelope(body, calls.options.envelope);
      const item = envelope.items[0] as EnvelopeItem;
      this.#isPending = true;
      if (envelope.batch) this.#dispatchBatch(envelope, caller);
      else if (item.kind === 'call') {
        this.#id = item.id;
        const pending = calls.dispatch(item, caller, this, admitted);
        // The response, or its first part, may have arrived before `dispatch` returned.
        if (this.#isPending) this.#pending ??= pending;
      } else this.#sendReply(calls.replyToSingle(item, caller, admitted));
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      const outcome = calls.recordInvalidRequest(thrown, body?.length ?? 0, NULL_ID, caller, admitted);
      this.#reject(outcome.failure ?? thrown, outcome);
    }
    if (this.#state === BUSY && this.#isPending) this.dueAt = this.#context.now + options.idleTimeoutMs;
    return stop;
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
    const { calls, pieces, writer } = this.#context;
    const { response } = outcome;
    let { failure } = outcome;
    if (response !== null && response.body.length > JOIN_MAX_BYTES) {
      const reservation = calls.reserve(response);
      if (reservation instanceof Failure) failure = reservation;
      else this.#reservation = reservation;
    }
    pieces.length = 0;
    if (response !== null && failure === null) pushResponse(pieces, response, this.#id);
    else if (failure !== null) pushFailure(pieces, failure, this.#id);
    this.#send(writer.prefixFor(failure), outcome, failure, endSingle(pieces));
  }

  respondStream(response: StreamedResponse, limits: LimitStatus): void {
    if (!this.#isPending) {
      response.cancel();
      return;
    }
    const [prefix, suffix] = [resultPrefix(), resultSuffix(this.#id)];
    const { compression } = this.#context.calls;
    const compressed = compression.compressStream(this.#accepted, this.#client, response, prefix, suffix);
    if (compressed === null) this.#sendStream(response, limits, prefix, suffix, null);
    else this.#sendCompressed(compressed, limits);
  }

  get #client(): ClientInfo {
    return (this.#caller as Caller).client;
  }

  #sendCompressed(compressed: CompressedResponse, limits: LimitStatus): void {
    this.#sendStream(compressed, limits, NOTHING, NOTHING, compressed.coding);
  }

  #sendStream(
    response: StreamedResponse,
    limits: LimitStatus,
    prefix: Buffer,
    suffix: Buffer,
    coding: ContentCoding | null,
  ): void {
    this.#pending = response;
    const socket = this.#socket;
    const { load, options, writer } = this.#context;
    const closes = !this.#keepAlive || load.isDraining;
    this.#state = FLUSHING;
    this.dueAt = NEVER;
    socket.setTimeout(options.idleTimeoutMs);
    // Send the head and the first part in one write.
    socket.cork();
    const bytes = response.bytes === null ? null : prefix.length + response.bytes + suffix.length;
    writer.writeStreamHead(socket, limits, bytes, closes, coding);
    writeStream(response, socket, prefix, suffix, () => {
      socket.setTimeout(0);
      this.#onWritten(closes);
    });
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
    this.#send(this.#context.writer.prefixFor(ending), limits, ending, pieces);
  }

  #reject(failure: Failure, limits: LimitStatus): void {
    const pieces: Buffer[] = [];
    pushFailure(pieces, failure, NULL_ID);
    this.#send(this.#context.writer.prefixForRejection(failure), limits, failure, endSingle(pieces));
  }

  #fail(thrown: unknown): void {
    this.#context.log.error({ err: thrown }, 'Request failed unexpectedly');
    if (this.#isCounted) this.#reject(new Failure('INTERNAL'), noLimits);
  }

  #send(prefix: HeadPrefix, limits: LimitStatus, failure: Failure | null, pieces: readonly Buffer[]): void {
    const isCompressible = failure === null && this.#accepted !== undefined;
    const compressed = isCompressible
      ? this.#context.calls.compression.compress(this.#accepted, this.#client, pieces)
      : null;
    if (compressed !== null) {
      this.#sendCompressed(compressed, limits);
      return;
    }
    this.#isPending = false;
    this.#pending = null;
    const { load, writer } = this.#context;
    const closes = !this.#keepAlive || load.isDraining;
    this.#state = FLUSHING;
    writer.write(this.#socket, prefix, limits, failure?.retryAfter, pieces, closes);
    this.#onWritten(closes);
  }

  #onWritten(closes: boolean): void {
    const socket = this.#socket;
    if (closes) {
      this.#close();
    } else if (socket.writableLength === 0) {
      this.#onFlushed();
    } else {
      // Use the socket's own timeout: unlike the sweep, it notices progress within a write.
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
      this.dueAt = this.#context.now + this.#context.options.requestTimeoutMs;
    } else {
      this.#becomeIdle();
    }
    if (this.#buffered !== null && !this.#isReading) this.#resume(this.#buffered);
  }

  #becomeIdle(): void {
    this.#state = IDLE;
    this.dueAt = this.#context.now + this.#context.options.keepAliveTimeoutMs + KEEP_ALIVE_MARGIN_MS;
  }

  #resume(buffered: Buffer): void {
    this.#buffered = null;
    this.#read(buffered, buffered.length, true);
    if (buffered.length <= BUFFERED_MAX_BYTES || this.#state === DETACHED) return;
    if (this.#buffered === null || (this.#buffered as Buffer).length <= BUFFERED_MAX_BYTES)
      this.#socket.resume();
  }

  #close(): void {
    this.#state = DETACHED;
    this.dueAt = NEVER;
    const socket = this.#socket;
    if (socket.writableLength > 0) socket.setTimeout(this.#context.options.idleTimeoutMs);
    socket.destroySoon();
  }

  #rejectPartial(code: 'MALFORMED_HTTP' | 'REQUEST_TIMEOUT'): void {
    rejectSocket(this.#socket, new Failure(code));
    this.#close();
  }

  #onEnd(): void {
    if (this.#state === DISCARDING || (this.#state === BUSY && !this.#isPending)) {
      this.#rejectPartial('MALFORMED_HTTP');
      return;
    }
    this.#cancel();
    this.#close();
  }

  #onClose(): void {
    this.#state = DETACHED;
    this.#cancel();
    this.#settle();
    this.#context.onConnectionEnd(this);
  }

  onTimeout(): void {
    const isSilent = this.#state === IDLE && !this.#wasUsed;
    if (isSilent || (this.#state === BUSY && !this.#isPending)) this.#rejectPartial('REQUEST_TIMEOUT');
    else this.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
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
    if (!this.#isCounted) return;
    this.#isCounted = false;
    const { load, fallback } = this.#context;
    load.inFlight--;
    if (load.isDraining) fallback.onRequestEnd();
  }
}

function isMovable(socket: Socket): boolean {
  const { _handle: handle } = socket as SocketInternals;
  return typeof handle?.useUserBuffer === 'function' && typeof handle.readStart === 'function';
}

/** Moves the handle and `close` listeners to a new socket. @param onRead - gets the byte count; false: pause. */
function moveHandle(from: Socket, onRead: (end: number) => boolean): Socket {
  const internals = from as SocketInternals;
  const onread = { buffer: shared, callback: onRead };
  const options: object = { handle: internals._handle, allowHalfOpen: true, onread };
  internals._handle = null;
  const to = new Socket(options);
  // net.Server counts a connection until the socket that references the server is destroyed.
  const target = to as SocketInternals;
  target._server = internals._server ?? null;
  target.server = internals.server ?? null;
  internals._server = null;
  for (const listener of from.listeners('close')) to.once('close', listener as () => void);
  return to;
}
