import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { openResponses } from './connection.ts';
import { isExemptFromTimeout } from './timeout-exemption.ts';

/** Requests of a connection that wait before no more are read. Until then it is seen when the client hangs up. */
const WAITING_MAX = 16;

/** Begins to answer a request, or does not. */
export type StartRequest = (request: IncomingMessage, response: ServerResponse) => void;

/** `since`: when its head was there, in ms of `performance.now()`. */
type Waiting = Readonly<{ start: StartRequest; since: number }>;

/**
 * The requests that a listener is answering: of each connection one at a time. Those that were sent ahead wait until the
 * answer before them was written, so that a client that does not read has no more than one answer waiting.
 */
export class OpenRequests {
  /** Every response under way, with when its request was begun, in ms of `performance.now()`. */
  readonly #startedAt = new Map<ServerResponse, number>();
  /** Those that wait for their turn. */
  readonly #waiting = new Map<ServerResponse, Waiting>();
  readonly #onEnd: () => void;

  /** @param onEnded - hears of each that has ended. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Those that were begun. */
  get size(): number {
    return this.#startedAt.size;
  }

  /** Begins a request when all before it on its connection are answered; it is open until its response closes. */
  enqueue(request: IncomingMessage, response: ServerResponse, start: StartRequest): void {
    const { socket } = request;
    const ofConnection = openResponses(socket);
    const isFirst = ofConnection.size === 0;
    ofConnection.add(response);
    if (isFirst) {
      this.#start(response, start);
      return;
    }
    this.#waiting.set(response, { start, since: performance.now() });
    if (ofConnection.size > WAITING_MAX) socket.pause();
    // Nothing closes a response whose turn never came.
    if (ofConnection.size === 2) socket.once('close', () => this.#removeWaiting(ofConnection));
  }

  /** Lets every answer that has not begun close its connection. */
  closeAfterResponses(): void {
    for (const response of this.#startedAt.keys())
      if (!response.headersSent) response.setHeader('connection', 'close');
  }

  /** Hands over requests whose bodies have been on their way since before that time, each once. */
  cutOverdue(before: number, onOverdue: (request: IncomingMessage) => void): void {
    for (const [response, startedAt] of this.#startedAt) {
      const { req } = response;
      if (startedAt > before || req.complete || isExemptFromTimeout(req)) continue;
      // Others on its connection may still be waiting for their answers.
      this.#startedAt.set(response, Number.POSITIVE_INFINITY);
      onOverdue(req);
    }
    for (const [response, { start, since }] of this.#waiting) {
      const { req } = response;
      // Of a long body no more is read before its turn.
      if (since > before || req.complete || req.readableLength >= req.readableHighWaterMark) continue;
      this.#waiting.set(response, { start, since: Number.POSITIVE_INFINITY });
      onOverdue(req);
    }
  }

  #start(response: ServerResponse, start: StartRequest): void {
    const { req } = response;
    const { socket } = req;
    this.#startedAt.set(response, performance.now());
    response.on('close', () => {
      openResponses(socket).delete(response);
      this.#startedAt.delete(response);
      this.#startNext(socket);
      this.#onEnd();
    });
    start(req, response);
  }

  #startNext(socket: Socket): void {
    const ofConnection = openResponses(socket);
    const [response] = ofConnection;
    const waiting = response === undefined ? undefined : this.#waiting.get(response);
    // An answer that closed the connection was the last.
    if (response === undefined || waiting === undefined || hasEnded(socket)) return;
    this.#waiting.delete(response);
    if (ofConnection.size <= WAITING_MAX && socket.isPaused()) socket.resume();
    this.#start(response, waiting.start);
  }

  #removeWaiting(ofConnection: Set<ServerResponse>): void {
    for (const response of ofConnection) if (this.#waiting.delete(response)) ofConnection.delete(response);
  }
}

const hasEnded = ({ writableEnded, destroyed }: Socket): boolean => writableEnded || destroyed;
