import type { Exchange, NodeRequest, PendingRequest } from '../exchange.ts';

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
