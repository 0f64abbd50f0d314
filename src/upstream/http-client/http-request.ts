import type { Socket } from 'node:net';
import { bufferPool, POOLED_MIN_BYTES } from '../../http/buffer-pool.ts';
import type { BodyFlow, BodyListener, Exchange, NodeRequest, PendingRequest } from '../exchange.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { HttpResponseReader } from './http-response-reader.ts';

/** Owner of a request: the pool while the request waits, then a connection. */
export interface RequestHolder {
  onAbort(request: HttpRequest): void;
}

export class HttpRequest implements PendingRequest {
  readonly bytes: Buffer;
  readonly nodeRequest: NodeRequest;
  /** On the `performance.now()` clock. */
  deadline: number;
  holder: RequestHolder;
  /** The node may have read the request. */
  isSent = false;
  /** Whether the request may share a connection with other requests in flight. */
  canShare = false;
  isStreamOffered = false;
  isSettled = false;
  /** Links used by RequestQueue. */
  previous: HttpRequest | null = null;
  next: HttpRequest | null = null;

  constructor(bytes: Buffer, deadline: number, nodeRequest: NodeRequest, holder: RequestHolder) {
    this.bytes = bytes;
    this.deadline = deadline;
    this.nodeRequest = nodeRequest;
    this.holder = holder;
  }

  abort(): void {
    if (!this.isSettled) this.holder.onAbort(this);
  }

  expire(): void {
    this.deadline = Math.min(this.deadline, performance.now());
  }

  /** @returns a stand-in that takes this request's place on its connection. The response to it is discarded. */
  createStandIn(holder: RequestHolder): HttpRequest {
    const request = new HttpRequest(this.bytes, this.deadline, this.nodeRequest, holder);
    request.isSent = true;
    request.isSettled = true;
    return request;
  }

  settle(exchange: Exchange): boolean {
    if (this.isSettled) return true;
    this.isSettled = true;
    return this.nodeRequest.onExchange(exchange);
  }
}

/** Intrusive linked list: a request can be in only one queue at a time. */
export class RequestQueue {
  first: HttpRequest | null = null;
  #last: HttpRequest | null = null;
  length = 0;

  push(request: HttpRequest): void {
    request.previous = this.#last;
    if (this.#last === null) this.first = request;
    else this.#last.next = request;
    this.#last = request;
    this.length++;
  }

  shift(): HttpRequest | null {
    const { first } = this;
    if (first !== null) this.remove(first);
    return first;
  }

  /** @returns the bytes of all unsent requests, which count as sent from now on; null if there are none. */
  takeUnsent(): Buffer | null {
    const unsent: Buffer[] = [];
    for (let request = this.first; request !== null; request = request.next) {
      if (!request.isSent) unsent.push(request.bytes);
      request.isSent = true;
    }
    return unsent.length === 0 ? null : Buffer.concat(unsent);
  }

  remove(request: HttpRequest): void {
    const { previous, next } = request;
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
    request.previous = null;
    request.next = null;
    this.length--;
  }
}

export function notifyFailed(
  request: HttpRequest,
  bodyListener: BodyListener | null,
  exchange: Exchange,
): void {
  try {
    if (bodyListener === null) request.settle(exchange);
    else {
      request.isSettled = true;
      bodyListener.onError(exchange);
    }
  } catch {
    // A listener that throws must not affect other requests.
  }
}

export function endStream(request: HttpRequest, bodyListener: BodyListener, rest: Buffer): boolean {
  request.isSettled = true;
  if (rest.length > 0) bodyListener.onData(rest);
  return bodyListener.onEnd();
}

export const aborted = (wasSent: boolean): Exchange => ({ kind: 'aborted', wasSent });
const noResponse = (wasSent: boolean, timedOut: boolean): Exchange => ({
  kind: 'transport',
  wasSent,
  timedOut,
});
export const timeoutExchange = (wasSent: boolean): Exchange => noResponse(wasSent, true);
export const connectionLost = (wasSent: boolean): Exchange => noResponse(wasSent, false);
export const tooLarge: Exchange = { kind: 'too-large' };
export const overBudget: Exchange = { kind: 'over-budget' };

/** A body of known length is offered for streaming only after this many bytes have arrived. */
const STREAM_OFFER_MIN_BYTES = 256;

export interface StreamingContext {
  readonly limits: UpstreamLimits;
  streamsInFlight: number;
}

export interface StreamingConnection {
  readonly isOpen: boolean;
  close(): void;
}

/** Buffers the response bodies of one connection, or streams large bodies to a listener. */
export class BodyStreamer implements BodyFlow {
  readonly #connection: StreamingConnection;
  readonly #context: StreamingContext;
  readonly #reader: HttpResponseReader;
  readonly #socket: Socket;
  #request: HttpRequest | null = null;
  /** null if the body is buffered. */
  bodyListener: BodyListener | null = null;
  #isPaused = false;
  #readBuffer: Buffer | null = null;

  constructor(
    connection: StreamingConnection,
    context: StreamingContext,
    reader: HttpResponseReader,
    socket: Socket,
  ) {
    this.#connection = connection;
    this.#context = context;
    this.#reader = reader;
    this.#socket = socket;
  }

  /** Buffer for reading a streamed body without a copy; null near the end of the body or if its length is unknown. */
  get readBuffer(): Buffer | null {
    if (this.bodyListener === null || this.#reader.plainRemaining < POOLED_MIN_BYTES) return null;
    this.#readBuffer ??= bufferPool.allocate();
    return this.#readBuffer;
  }

  /** Streams only the last request: the id is read last, too late to send the requests behind it again. */
  streamThresholdFor({ nodeRequest, isSettled, next }: HttpRequest): number {
    const { limits, streamsInFlight } = this.#context;
    const streamsMax = Math.min(limits.longResponsesMax, Math.floor(limits.connectionsMax / 2));
    const isLast = next === null && streamsInFlight < streamsMax;
    const canStream = isLast && nodeRequest.acceptsStream && !isSettled;
    return canStream ? limits.streamFromBytes : Number.POSITIVE_INFINITY;
  }

  consume(request: HttpRequest): void {
    if (this.bodyListener !== null) this.#forward(request, this.bodyListener);
    else if (this.#isStreamable(request)) this.#offerStream(request);
    else this.#reader.body.retain();
  }

  /** @returns the listener; null if the body was not streamed. */
  end(): BodyListener | null {
    const bodyListener = this.bodyListener;
    if (bodyListener === null) return null;
    this.bodyListener = null;
    this.#request = null;
    // The buffer is not returned to the pool, because a read into it may be pending.
    this.#readBuffer = null;
    this.#context.streamsInFlight--;
    this.resume();
    return bodyListener;
  }

  pause(): void {
    // A listener may call this after the end of the body. Pausing would then block the next response.
    if (this.#request === null || this.#isPaused || !this.#connection.isOpen) return;
    this.#isPaused = true;
    this.#socket.pause();
    this.#resetStallTimer();
  }

  resume(): void {
    if (!this.#isPaused || !this.#connection.isOpen) return;
    this.#isPaused = false;
    this.#resetStallTimer();
    this.#socket.resume();
  }

  stop(): void {
    const request = this.#request;
    this.end();
    if (request !== null) request.isSettled = true;
    this.#connection.close();
  }

  #isStreamable({ isStreamOffered }: HttpRequest): boolean {
    const { body, contentLength, isInBody, streamThreshold, status } = this.#reader;
    if (isStreamOffered || !isInBody || status !== 200) return false;
    return contentLength < 0
      ? body.bytes >= streamThreshold
      : contentLength >= streamThreshold && body.bytes >= STREAM_OFFER_MIN_BYTES;
  }

  #offerStream(request: HttpRequest): void {
    const { body, contentLength } = this.#reader;
    request.isStreamOffered = true;
    this.#request = request;
    this.pause();
    const bodyListener = request.nodeRequest.onStreamStart(
      body.piece(true),
      contentLength < 0 ? null : contentLength,
      this,
    );
    if (!this.#connection.isOpen) return;
    if (bodyListener === null) {
      this.#request = null;
      body.retain();
      this.resume();
      return;
    }
    body.clear();
    this.bodyListener = bodyListener;
    this.#context.streamsInFlight++;
    this.#resetStallTimer();
  }

  #forward(request: HttpRequest, bodyListener: BodyListener): void {
    const { body } = this.#reader;
    if (body.bytes === 0) return;
    request.deadline = performance.now() + this.#context.limits.streamStallMs;
    const piece = body.piece(true);
    if (this.#readBuffer !== null && piece.buffer === this.#readBuffer.buffer) this.#readBuffer = null;
    body.clear();
    bodyListener.onData(piece);
  }

  #resetStallTimer(): void {
    if (this.#request === null || this.bodyListener === null) return;
    this.#request.deadline = performance.now() + this.#context.limits.streamStallMs;
  }
}
