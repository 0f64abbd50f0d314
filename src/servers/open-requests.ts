import type { IncomingMessage, ServerResponse } from 'node:http';
import { openResponses } from './http-connection.ts';
import { keepsOwnTime } from './own-time.ts';

/** The requests that a listener is answering. */
export class OpenRequests {
  /** Every response under way, with when the head of its request was there, in ms of `performance.now()`. */
  readonly #startedAt = new Map<ServerResponse, number>();
  readonly #onEnded: () => void;

  /** @param onEnded - hears of each that has ended. */
  constructor(onEnded: () => void) {
    this.#onEnded = onEnded;
  }

  get size(): number {
    return this.#startedAt.size;
  }

  /** A request that is answered from now on, until its response closes. */
  note(request: IncomingMessage, response: ServerResponse): void {
    const ofConnection = openResponses(request.socket);
    ofConnection.add(response);
    this.#startedAt.set(response, performance.now());
    response.on('close', () => {
      ofConnection.delete(response);
      this.#startedAt.delete(response);
      this.#onEnded();
    });
  }

  /** Lets every answer that has not begun close its connection. */
  closeBehind(): void {
    for (const response of this.#startedAt.keys())
      if (!response.headersSent) response.setHeader('connection', 'close');
  }

  /** Hands over requests whose bodies have been on their way since before that time, each once. */
  takeOverdue(before: number, cut: (request: IncomingMessage) => void): void {
    for (const [response, startedAt] of this.#startedAt) {
      const { req } = response;
      if (startedAt > before || req.complete || keepsOwnTime(req)) continue;
      // Others on its connection may still be waiting for their answers.
      this.#startedAt.set(response, Number.POSITIVE_INFINITY);
      cut(req);
    }
  }
}
