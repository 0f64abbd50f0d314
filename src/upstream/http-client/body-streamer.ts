import type { Socket } from 'node:net';
import { bufferPool, POOLED_MIN_BYTES } from '../../http/buffer-pool.ts';
import type { BodyFlow, BodyListener } from '../exchange.ts';
import type { HttpRequest } from './http-request.ts';
import type { HttpResponseReader } from './http-response-reader.ts';

/** Bytes of a body of known length needed before it is offered for streaming. */
const STREAM_OFFER_MIN_BYTES = 256;

export type StreamingLimits = Readonly<{
  longAnswerFromBytes: number;
  /** Longest time without progress of a streamed body. */
  longAnswerStallMs: number;
}>;

export interface StreamingContext {
  readonly limits: StreamingLimits;
  streamsInFlight: number;
  readonly hasStreamSlot: boolean;
}

export interface StreamingConnection {
  readonly isOpen: boolean;
  close(cause: unknown): void;
}

/** Buffers the bodies of one connection, or streams large ones to a listener. */
export class BodyStreamer implements BodyFlow {
  readonly #connection: StreamingConnection;
  readonly #context: StreamingContext;
  readonly #reader: HttpResponseReader;
  readonly #socket: Socket;
  #request: HttpRequest | null = null;
  #bodyListener: BodyListener | null = null;
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

  get isStreaming(): boolean {
    return this.#bodyListener !== null;
  }

  /** Buffer to read a streamed body into without a copy; null near its end, or if the length is unknown. */
  get readBuffer(): Buffer | null {
    if (this.#bodyListener === null || this.#reader.plainRemaining < POOLED_MIN_BYTES) return null;
    this.#readBuffer ??= bufferPool.allocate();
    return this.#readBuffer;
  }

  streamThresholdFor({ nodeRequest, isSettled }: HttpRequest): number {
    const canStream = nodeRequest.acceptsStream && !isSettled && this.#context.hasStreamSlot;
    return canStream ? this.#context.limits.longAnswerFromBytes : Number.POSITIVE_INFINITY;
  }

  consume(request: HttpRequest): void {
    if (this.#bodyListener !== null) this.#forward(request, this.#bodyListener);
    else if (this.#isStreamable(request)) this.#offerStream(request);
    else this.#reader.body.retain();
  }

  /** Ends streaming. @returns the listener; null if the body was not streamed. */
  end(): BodyListener | null {
    const bodyListener = this.#bodyListener;
    if (bodyListener === null) return null;
    this.#bodyListener = null;
    this.#request = null;
    // Not returned to the pool: a read into it may be pending.
    this.#readBuffer = null;
    this.#context.streamsInFlight--;
    this.resume();
    return bodyListener;
  }

  pause(): void {
    // The flow may be paused for the end of a body: that would block the next response.
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
    this.#connection.close(new Error('aborted'));
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
    this.#bodyListener = bodyListener;
    this.#context.streamsInFlight++;
    this.#resetStallTimer();
  }

  #forward(request: HttpRequest, bodyListener: BodyListener): void {
    const { body } = this.#reader;
    if (body.bytes === 0) return;
    request.deadline = performance.now() + this.#context.limits.longAnswerStallMs;
    const piece = body.piece(true);
    if (this.#readBuffer !== null && piece.buffer === this.#readBuffer.buffer) this.#readBuffer = null;
    body.clear();
    bodyListener.onData(piece);
  }

  #resetStallTimer(): void {
    if (this.#request === null || this.#bodyListener === null) return;
    this.#request.deadline = performance.now() + this.#context.limits.longAnswerStallMs;
  }
}
