import type { Socket } from 'node:net';
import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import type { Exchange } from '../exchange.ts';
import {
  BodyStreamer,
  type StreamingConnection,
  type StreamingContext,
  type StreamingLimits,
} from './body-streamer.ts';
import { aborted, connectionLost, overBudget, timeoutExchange, tooLarge } from './failed-exchanges.ts';
import type { HttpRequest, RequestHolder } from './http-request.ts';
import { HttpResponseReader } from './http-response-reader.ts';
import { endStream, notifyFailed } from './notify-request.ts';
import { RequestQueue } from './request-queue.ts';
import type { Dialer, SocketListener } from './socket.ts';

/** How long the answer to a light read is waited for that nobody wants any more, so that its connection can be used again. */
const LINGER_MS = 500;

export type ConnectionLimits = StreamingLimits &
  Readonly<{
    connectTimeoutMs: number;
    idleTimeoutMs: number;
    responseMaxBytes: number;
  }>;

/** Whose connections they are. */
export interface ConnectionContext extends StreamingContext {
  readonly limits: ConnectionLimits;
  /** Requests that may be under way on one connection. */
  readonly pipelining: number;
  /** What answers are gathered in, on all connections to all nodes. */
  readonly responseBudget: ByteBudget;
  /** It has come about, and may be used. @param now - `performance.now()`, here and below. */
  onOpen(connection: Connection, now: number): void;
  /** Another request may be sent over it. */
  onAvailable(connection: Connection, now: number): void;
  /** Requests were given to it that have not left: it wants to `flush` when others have come along. */
  onFlushNeeded(connection: Connection): void;
  /** Told once. @param wasOpen - false when it never came about. */
  onClose(connection: Connection, wasOpen: boolean, cause: unknown): void;
  /** Nobody waits for a connection, and there may be more. */
  readonly hasCapacity: boolean;
}

/** One connection to a node, and the requests that are under way on it. */
export class Connection implements SocketListener, RequestHolder, StreamingConnection {
  readonly #context: ConnectionContext;
  readonly #socket: Socket;
  readonly #reader: HttpResponseReader;
  readonly #streamer: BodyStreamer;
  readonly #inFlight = new RequestQueue();
  #state: 'connecting' | 'open' | 'closed' = 'connecting';
  /** Until then it may wait: for its opening, or for its next request. `performance.now()`. */
  #waitsUntil: number;
  /** One of its requests was given up because it took too long: it gets no more. */
  #isSuspect = false;

  constructor(context: ConnectionContext, dialer: Dialer, now: number) {
    this.#context = context;
    this.#reader = new HttpResponseReader(context.limits, context.responseBudget);
    this.#waitsUntil = now + context.limits.connectTimeoutMs;
    this.#socket = dialer.dial(this);
    this.#streamer = new BodyStreamer(this, context, this.#reader, this.#socket);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get isConnecting(): boolean {
    return this.#state === 'connecting';
  }

  /** Requests that are under way on it. */
  get inFlight(): number {
    return this.#inFlight.length;
  }

  /** Nobody waits for what is under way on it. */
  get isLingering(): boolean {
    return this.#state === 'open' && this.#inFlight.first !== null && !this.#hasWaiting(null);
  }

  /** Whether the request may be sent over it now. */
  accepts({ nodeRequest }: HttpRequest, now: number): boolean {
    const { first, length } = this.#inFlight;
    if (this.#state !== 'open' || this.#isSuspect) return false;
    if (first === null) return now < this.#waitsUntil;
    if (first.isSettled) return false;
    return (
      nodeRequest.canPipeline &&
      first.nodeRequest.canPipeline &&
      length < this.#context.pipelining &&
      !this.#streamer.isStreaming
    );
  }

  send(request: HttpRequest): void {
    request.holder = this;
    this.#inFlight.push(request);
    if (this.#context.pipelining > 1) this.#context.onFlushNeeded(this);
    else this.#write(request);
  }

  /** Sends what was given to it, in one piece. */
  flush(): void {
    if (this.#state !== 'open') return;
    const unsent: Buffer[] = [];
    for (let request = this.#inFlight.first; request !== null; request = request.next) {
      if (!request.isSent) unsent.push(request.bytes);
      request.isSent = true;
    }
    if (unsent.length > 0) this.#socket.write(unsent.length === 1 ? unsent[0]! : Buffer.concat(unsent));
  }

  /** Gives up what has waited for too long. */
  sweep(now: number): void {
    if (this.isLingering) this.#endLingering(now);
    else if (this.#inFlight.first !== null) this.#abortExpired(now);
    else if (now >= this.#waitsUntil)
      this.close(new Error(this.isConnecting ? 'no connection in time' : 'unused'));
  }

  /** What is under way on it fails. */
  close(cause: unknown): void {
    if (this.#state === 'closed') return;
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    this.#socket.destroy();
    this.#reader.free();
    this.#context.onClose(this, wasOpen, cause);
    let bodyListener = this.#streamer.end();
    for (let request = this.#inFlight.shift(); request !== null; request = this.#inFlight.shift()) {
      notifyFailed(request, bodyListener, connectionLost(request.isSent, cause));
      bodyListener = null;
    }
  }

  onOpen(): void {
    if (this.#state !== 'connecting') return;
    this.#state = 'open';
    const now = performance.now();
    this.#waitsUntil = now + this.#context.limits.idleTimeoutMs;
    this.#context.onOpen(this, now);
  }

  get readBuffer(): Buffer | null {
    return this.#streamer.readBuffer;
  }

  /** What is thrown over the bytes of a node ends their connection, and nothing else. */
  onData(bytes: Buffer, length: number): void {
    try {
      this.#read(bytes, length);
    } catch (thrown) {
      this.close(thrown);
    }
  }

  onEnd(): void {
    try {
      this.#finish();
    } catch (thrown) {
      this.close(thrown);
    }
  }

  onClose(cause: unknown): void {
    this.close(cause);
  }

  onAbort(request: HttpRequest): void {
    request.deadline = Math.min(request.deadline, performance.now() + LINGER_MS);
    if (this.#canLinger(request)) request.settle(aborted(true));
    else this.#abortRequest(request, aborted(request.isSent));
  }

  #read(bytes: Buffer, length: number): void {
    let at = 0;
    while (at < length && this.#state === 'open') {
      const request = this.#inFlight.first;
      // Nobody has asked for it: taken for the answer to the next request, it would be somebody else's.
      if (request === null || !request.isSent) {
        this.close(new Error('bytes that nobody asked for'));
        return;
      }
      this.#reader.streamThreshold = this.#streamer.streamThresholdFor(request);
      at = this.#reader.read(bytes, at, length);
      if (this.#reader.readState === 'more') {
        this.#streamer.consume(request);
        return;
      }
      this.#end(request, at < length);
    }
  }

  #finish(): void {
    if (this.#state !== 'open') return;
    this.#reader.finish();
    const request = this.#inFlight.first;
    if (request?.isSent === true && this.#reader.readState !== 'more') this.#end(request, false);
    this.close(new Error('closed by the node'));
  }

  #write(request: HttpRequest): void {
    request.isSent = true;
    this.#socket.write(request.bytes);
  }

  /** What was being read has ended, one way or another. */
  #end(request: HttpRequest, moreFollows: boolean): void {
    const { readState } = this.#reader;
    if (readState === 'whole') this.#onResponseComplete(request, moreFollows);
    else if (readState === 'too-large') this.#abortRequest(request, tooLarge, true);
    else if (readState === 'no-room') this.#abortRequest(request, overBudget, true);
    else this.close(new Error('not the HTTP that was asked for'));
  }

  #onResponseComplete(request: HttpRequest, moreFollows: boolean): void {
    const reader = this.#reader;
    const { keepAlive, keepAliveMs, status, retryAfter } = reader;
    const bodyListener = this.#streamer.end();
    const body = bodyListener === null ? reader.body.take() : reader.body.piece(!moreFollows);
    reader.next();
    this.#detach(request);
    const isAlone = this.#inFlight.first === null;
    if (!keepAlive || this.#socket.writableLength > 0 || (isAlone && moreFollows))
      this.close(new Error('used up'));
    const isValid =
      bodyListener === null
        ? request.settle({ kind: 'response', status, retryAfter, body })
        : endStream(request, bodyListener, body);
    if (this.#state === 'closed') return;
    if (!isValid) this.close(new Error('an answer to something else'));
    else this.#onIdle(keepAliveMs);
  }

  /** It may be used for another request. @param keepAliveMs - how long it may be unused; null when the node did not say. */
  #onIdle(keepAliveMs: number | null): void {
    const { idleTimeoutMs } = this.#context.limits;
    const idleMs = keepAliveMs === null ? idleTimeoutMs : Math.min(idleTimeoutMs, keepAliveMs);
    const now = performance.now();
    this.#waitsUntil = now + idleMs;
    if (idleMs <= 0 && this.#inFlight.first === null) this.close(new Error('used up'));
    else this.#context.onAvailable(this, now);
  }

  /** A connection is worth more than the little that a light read costs its node. */
  #canLinger({ isSent, nodeRequest }: HttpRequest): boolean {
    return (
      isSent &&
      nodeRequest.canPipeline &&
      !this.#streamer.isStreaming &&
      !this.#reader.isInBody &&
      this.#context.hasCapacity
    );
  }

  #endLingering(now: number): void {
    if (now >= (this.#inFlight.first?.deadline ?? 0)) this.close(new Error('given up'));
  }

  #abortExpired(now: number): void {
    let request = this.#inFlight.first;
    while (request !== null && this.#state !== 'closed') {
      const { next } = request;
      if (now >= request.deadline && !request.isSettled) {
        this.#isSuspect ||= request.isSent;
        this.#abortRequest(request, timeoutExchange(request.isSent));
      }
      request = next;
    }
  }

  /**
   * Ends one request. What has left cannot be called back: its answer is read and dropped as long as others wait for theirs
   * on this connection, which is closed with the last of them.
   */
  #abortRequest(request: HttpRequest, exchange: Exchange, mustClose = false): void {
    const bodyListener = request === this.#inFlight.first ? this.#streamer.end() : null;
    const isBlocking = mustClose || bodyListener !== null || (request.isSent && !this.#hasWaiting(request));
    if (isBlocking || !request.isSent) this.#detach(request);
    if (isBlocking) this.close(new Error('given up'));
    notifyFailed(request, bodyListener, exchange);
    if (this.#state === 'open' && this.#inFlight.first === null)
      this.#context.onAvailable(this, performance.now());
  }

  /** It is not this connection's any more: what it came to is told next, when others have heard. */
  #detach(request: HttpRequest): void {
    this.#inFlight.remove(request);
    request.holder = detachedHolder;
  }

  /** Others still want to hear of a request that is under way on it. */
  #hasWaiting(except: HttpRequest | null): boolean {
    for (let request = this.#inFlight.first; request !== null; request = request.next) {
      if (request !== except && !request.isSettled) return true;
    }
    return false;
  }
}

/** Holds requests that are about to be told what they came to. */
const detachedHolder: RequestHolder = { onAbort: (request) => request.settle(aborted(request.isSent)) };
