import type { BodyListener, Exchange, NodeRequest, PendingRequest } from '../exchange.ts';

/** Owner of a request: the pool while it waits, then a connection. */
export interface RequestHolder {
  onAbort(request: HttpRequest): void;
}

/** Request from submission to result. */
export class HttpRequest implements PendingRequest {
  readonly bytes: Buffer;
  readonly nodeRequest: NodeRequest;
  /** `performance.now()`. */
  deadline: number;
  holder: RequestHolder;
  /** The node may have read it. */
  isSent = false;
  /** Its response was offered for streaming. */
  isStreamOffered = false;
  /** The result was reported. */
  isSettled = false;
  /** Links of RequestQueue. */
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

  /**
   * Reports the result once.
   * @returns false if the body is not a valid response.
   */
  settle(exchange: Exchange): boolean {
    if (this.isSettled) return true;
    this.isSettled = true;
    return this.nodeRequest.onExchange(exchange);
  }
}

/** FIFO of requests, linked through the requests, which are in one queue at a time. */
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

/** Reports a failure. An exception of the listener does not affect other requests. */
export function notifyFailed(
  request: HttpRequest,
  bodyListener: BodyListener | null,
  exchange: Exchange,
): void {
  try {
    if (bodyListener === null) {
      request.settle(exchange);
      return;
    }
    request.isSettled = true;
    bodyListener.onError(exchange);
  } catch {
    // They have heard of it all the same.
  }
}

/** Ends a streamed body. @returns false if it is not a valid response. */
export function endStream(request: HttpRequest, bodyListener: BodyListener, rest: Buffer): boolean {
  request.isSettled = true;
  if (rest.length > 0) bodyListener.onData(rest);
  return bodyListener.onEnd();
}

export const aborted = (wasSent: boolean): Exchange => (wasSent ? ABORTED_SENT : ABORTED_UNSENT);

/** @param wasSent - the node may have read the request. */
export const timeoutExchange = (wasSent: boolean): Exchange => (wasSent ? TIMEOUT_SENT : TIMEOUT_UNSENT);

export const tooLarge: Exchange = { kind: 'too-large' };
export const overBudget: Exchange = { kind: 'over-budget' };

export const connectionLost = (wasSent: boolean, cause: unknown): Exchange => ({
  kind: 'transport',
  wasSent,
  timedOut: false,
  cause,
});

const ABORTED_SENT: Exchange = { kind: 'aborted', wasSent: true };
const ABORTED_UNSENT: Exchange = { kind: 'aborted', wasSent: false };
const TIMEOUT_SENT: Exchange = { kind: 'transport', wasSent: true, timedOut: true, cause: null };
const TIMEOUT_UNSENT: Exchange = { kind: 'transport', wasSent: false, timedOut: true, cause: null };
