import type { BodyListener, Exchange, NodeRequest, PendingRequest } from '../exchange.ts';

/** Whoever has a request: the pool while it waits for a connection, then its connection. */
export interface RequestHolder {
  /** Whoever asked does not want to know any more. */
  onAbort(request: HttpRequest): void;
}

/** One request from the moment it is put to what it comes to. */
export class HttpRequest implements PendingRequest {
  /** What goes out, in one piece. */
  readonly bytes: Buffer;
  readonly nodeRequest: NodeRequest;
  /** When it is given up, as `performance.now()`. */
  deadline: number;
  holder: RequestHolder;
  /** Its bytes are on their way: the node may read them. */
  isSent = false;
  /** Whoever asked was offered its answer piece by piece. */
  isStreamOffered = false;
  /** Whoever asked has heard what it came to. */
  isSettled = false;
  /** Its neighbours in the queue that it stands in: see PostQueue. */
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
   * Tells whoever asked, unless it was told already.
   * @returns whether what came may be believed to be the answer.
   */
  settle(exchange: Exchange): boolean {
    if (this.isSettled) return true;
    this.isSettled = true;
    return this.nodeRequest.onExchange(exchange);
  }
}

/** Requests in the order in which they were put. The links are in the requests themselves, which stand in one at a time. */
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

  /** Takes the oldest out. */
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

/** Tells whoever has to be told of a request that has failed. Who breaks over that keeps it from nobody else. */
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

/** Ends a body that was passed on. @returns whether it may have been the answer. */
export function endStream(request: HttpRequest, bodyListener: BodyListener, rest: Buffer): boolean {
  request.isSettled = true;
  if (rest.length > 0) bodyListener.onData(rest);
  return bodyListener.onEnd();
}

/** What requests come to that say nothing of their own: made once. */

export const aborted = (wasSent: boolean): Exchange => (wasSent ? ABORTED_SENT : ABORTED_UNSENT);

/** @param bytesLeft - whether the node may have read the request. */
export const timeoutExchange = (wasSent: boolean): Exchange => (wasSent ? TIMEOUT_SENT : TIMEOUT_UNSENT);

export const tooLarge: Exchange = { kind: 'too-large' };
export const overBudget: Exchange = { kind: 'no-room' };

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
