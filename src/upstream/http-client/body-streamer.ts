import type { Socket } from 'node:net';
import { bufferPool, POOLED_MIN_BYTES } from '../../http/buffer-pool.ts';
import type { BodyFlow, BodyListener } from '../exchange.ts';
import type { HttpRequest } from './http-request.ts';
import type { HttpResponseReader } from './http-response-reader.ts';

/** Bytes of a body of known length before it is offered piece by piece: enough to see what it begins with. */
const STREAM_OFFER_MIN_BYTES = 256;

export type StreamingLimits = Readonly<{
  /** Answers from here on are passed on while they come, to those who take them so. */
  longAnswerFromBytes: number;
  /** How long such an answer may stand still, because of the node or of whoever gets it. */
  longAnswerStallMs: number;
}>;

/** What all connections to a node share. */
export interface StreamingContext {
  readonly limits: StreamingLimits;
  /** Long answers that are being passed on, on all of them. */
  streamsInFlight: number;
  /** Whether another may be. */
  readonly hasStreamSlot: boolean;
}

/** The connection that bodies come over. */
export interface StreamingConnection {
  readonly isOpen: boolean;
  close(cause: unknown): void;
}

/** Gathers the bodies that come over one connection, or hands long ones over while they come to whoever takes them so. */
export class BodyStreamer implements BodyFlow {
  readonly #connection: StreamingConnection;
  readonly #context: StreamingContext;
  readonly #reader: HttpResponseReader;
  readonly #socket: Socket;
  /** Whose body is handed over, and who gets it. */
  #request: HttpRequest | null = null;
  #bodyListener: BodyListener | null = null;
  #isPaused = false;
  /** Where the next of it is read into. */
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

  /** A body is being handed over. */
  get isStreaming(): boolean {
    return this.#bodyListener !== null;
  }

  /**
   * Where more of a body that is handed over is to be read into, so that it need not be copied; null when hardly anything
   * of it is left, or nobody knows.
   */
  get readBuffer(): Buffer | null {
    if (this.#bodyListener === null || this.#reader.plainRemaining < POOLED_MIN_BYTES) return null;
    this.#readBuffer ??= bufferPool.allocate();
    return this.#readBuffer;
  }

  /** From how many bytes on the body may be handed over. */
  streamThresholdFor({ nodeRequest, isSettled }: HttpRequest): number {
    const canStream = nodeRequest.acceptsStream && !isSettled && this.#context.hasStreamSlot;
    return canStream ? this.#context.limits.longAnswerFromBytes : Number.POSITIVE_INFINITY;
  }

  /** Takes what has come of a body that goes on. */
  consume(request: HttpRequest): void {
    if (this.#bodyListener !== null) this.#forward(request, this.#bodyListener);
    else if (this.#isStreamable(request)) this.#offerStream(request);
    else this.#reader.body.retain();
  }

  /** It ends: nothing more is handed over. @returns who has to hear of it; null when it was not handed over. */
  end(): BodyListener | null {
    const bodyListener = this.#bodyListener;
    if (bodyListener === null) return null;
    this.#bodyListener = null;
    this.#request = null;
    // Not given back: the connection may be read into it still.
    this.#readBuffer = null;
    this.#context.streamsInFlight--;
    this.resume();
    return bodyListener;
  }

  pause(): void {
    // Whoever gets the last of a body may still say so: what is held up then is the next answer.
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
    this.#connection.close(new Error('no longer wanted'));
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
    // It is whoever's gets it.
    if (this.#readBuffer !== null && piece.buffer === this.#readBuffer.buffer) this.#readBuffer = null;
    body.clear();
    bodyListener.onData(piece);
  }

  #resetStallTimer(): void {
    if (this.#request === null || this.#bodyListener === null) return;
    this.#request.deadline = performance.now() + this.#context.limits.longAnswerStallMs;
  }
}
