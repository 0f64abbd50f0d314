import type { Socket } from 'node:net';
import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import type { Exchange } from '../exchange.ts';
import {
  BodyStreamer,
  type StreamingConnection,
  type StreamingContext,
  type StreamingLimits,
} from './body-streamer.ts';
import {
  aborted,
  connectionLost,
  endStream,
  type HttpRequest,
  notifyFailed,
  overBudget,
  type RequestHolder,
  RequestQueue,
  timeoutExchange,
  tooLarge,
} from './http-request.ts';
import { HttpResponseReader } from './http-response-reader.ts';
import type { Dialer, SocketListener } from './socket.ts';

/** How long the response to an aborted light read is awaited, to keep its connection. */
const LINGER_MS = 500;

export type ConnectionLimits = StreamingLimits &
  Readonly<{
    connectTimeoutMs: number;
    idleTimeoutMs: number;
    responseMaxBytes: number;
  }>;

export interface ConnectionContext extends StreamingContext {
  readonly limits: ConnectionLimits;
  readonly pipelining: number;
  /** Memory budget of buffered bodies, shared by all nodes. */
  readonly responseBudget: ByteBudget;
  /** The connection is open. @param now - `performance.now()`, here and below. */
  onOpen(connection: Connection, now: number): void;
  onAvailable(connection: Connection, now: number): void;
  /** Requests were added; `flush` sends them together. */
  onFlushNeeded(connection: Connection): void;
  /** Called once. @param wasOpen - false if it could not be opened. */
  onClose(connection: Connection, wasOpen: boolean, cause: unknown): void;
  readonly hasCapacity: boolean;
}

/** Connection to a node with its requests in flight. */
export class Connection implements SocketListener, RequestHolder, StreamingConnection {
  readonly #context: ConnectionContext;
  readonly #socket: Socket;
  readonly #reader: HttpResponseReader;
  readonly #streamer: BodyStreamer;
  readonly #inFlight = new RequestQueue();
  #state: 'connecting' | 'open' | 'closed' = 'connecting';
  /** Deadline for opening or for the next request; `performance.now()`. */
  #waitsUntil: number;
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

  get inFlight(): number {
    return this.#inFlight.length;
  }

  get isLingering(): boolean {
    return this.#state === 'open' && this.#inFlight.first !== null && !this.#hasWaiting(null);
  }

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

  flush(): void {
    if (this.#state !== 'open') return;
    const unsent: Buffer[] = [];
    for (let request = this.#inFlight.first; request !== null; request = request.next) {
      if (!request.isSent) unsent.push(request.bytes);
      request.isSent = true;
    }
    if (unsent.length > 0) this.#socket.write(unsent.length === 1 ? unsent[0]! : Buffer.concat(unsent));
  }

  sweep(now: number): void {
    if (this.isLingering) this.#endLingering(now);
    else if (this.#inFlight.first !== null) this.#abortExpired(now);
    else if (now >= this.#waitsUntil)
      this.close(new Error(this.isConnecting ? 'connect timeout' : 'idle timeout'));
  }

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

  /** An exception while processing received bytes closes only this connection. */
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
      // An unsolicited response would be taken for the response to the next request.
      if (request === null || !request.isSent) {
        this.close(new Error('unsolicited response'));
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

  #end(request: HttpRequest, moreFollows: boolean): void {
    const { readState } = this.#reader;
    if (readState === 'complete') this.#onResponseComplete(request, moreFollows);
    else if (readState === 'too-large') this.#abortRequest(request, tooLarge, true);
    else if (readState === 'over-budget') this.#abortRequest(request, overBudget, true);
    else this.close(new Error('invalid HTTP response'));
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
      this.close(new Error('keep-alive ended'));
    const isValid =
      bodyListener === null
        ? request.settle({ kind: 'response', status, retryAfter, body })
        : endStream(request, bodyListener, body);
    if (this.#state === 'closed') return;
    if (!isValid) this.close(new Error('response does not match the request'));
    else this.#onIdle(keepAliveMs);
  }

  /** @param keepAliveMs - allowed idle time; null if the node sent none. */
  #onIdle(keepAliveMs: number | null): void {
    const { idleTimeoutMs } = this.#context.limits;
    const idleMs = keepAliveMs === null ? idleTimeoutMs : Math.min(idleTimeoutMs, keepAliveMs);
    const now = performance.now();
    this.#waitsUntil = now + idleMs;
    if (idleMs <= 0 && this.#inFlight.first === null) this.close(new Error('keep-alive ended'));
    else this.#context.onAvailable(this, now);
  }

  /** Keeping a connection is worth a light read. */
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
    if (now >= (this.#inFlight.first?.deadline ?? 0)) this.close(new Error('request aborted'));
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
   * Ends one request. Its response is read and discarded while others wait on the connection, which then
   * closes.
   */
  #abortRequest(request: HttpRequest, exchange: Exchange, mustClose = false): void {
    const bodyListener = request === this.#inFlight.first ? this.#streamer.end() : null;
    const isBlocking = mustClose || bodyListener !== null || (request.isSent && !this.#hasWaiting(request));
    if (isBlocking || !request.isSent) this.#detach(request);
    if (isBlocking) this.close(new Error('request aborted'));
    notifyFailed(request, bodyListener, exchange);
    if (this.#state === 'open' && this.#inFlight.first === null)
      this.#context.onAvailable(this, performance.now());
  }

  #detach(request: HttpRequest): void {
    this.#inFlight.remove(request);
    request.holder = detachedHolder;
  }

  #hasWaiting(except: HttpRequest | null): boolean {
    for (let request = this.#inFlight.first; request !== null; request = request.next) {
      if (request !== except && !request.isSettled) return true;
    }
    return false;
  }
}

const detachedHolder: RequestHolder = { onAbort: (request) => request.settle(aborted(request.isSent)) };
