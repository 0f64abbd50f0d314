import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import type { NodeRequest, PendingRequest } from '../exchange.ts';
import type { UpstreamLimits } from '../limits.ts';
import { Connection, type ConnectionContext, type Dialer } from './connection.ts';
import {
  aborted,
  connectionLost,
  HttpRequest,
  type RequestHolder,
  RequestQueue,
  timeoutExchange,
} from './http-request.ts';
import { Pipelining, type PipeliningOption } from './pipelining.ts';

/**
 * Connections to one node. Requests reuse the most recently used connection, so that the others become idle and
 * close. When none is free, requests queue; the caller limits the queue. Only a pipelined read may be sent again,
 * once, if another request on its connection prevented its response.
 */
export class ConnectionPool implements ConnectionContext, RequestHolder {
  readonly limits: UpstreamLimits;
  readonly responseBudget: ByteBudget;
  readonly pipelining: Pipelining;
  streamsInFlight = 0;
  readonly #dialer: Dialer;
  readonly #connections: Connection[] = [];
  readonly #idle: Connection[] = [];
  /** Connections waiting to be flushed. Until it is flushed, the last of these may take more requests. */
  readonly #unflushed: Connection[] = [];
  readonly #waiting = new RequestQueue();
  readonly #sweeper = new Sweeper((now) => this.#sweep(now));
  #connecting = 0;
  #isClosed = false;

  /**
   * @param limits - read at each use, because a reload may change them.
   * @param pipelining - maximum requests in flight per connection; `auto`: 8.
   */
  constructor(
    dialer: Dialer,
    limits: UpstreamLimits,
    responseBudget: ByteBudget,
    pipelining: PipeliningOption = 'auto',
  ) {
    this.#dialer = dialer;
    this.limits = limits;
    this.responseBudget = responseBudget;
    this.pipelining = new Pipelining(pipelining);
  }

  get hasCapacity(): boolean {
    return this.#waiting.first === null && !this.#isFull;
  }

  /** @param deadline - on the `performance.now()` clock; the timeout fires up to 20 ms later, never earlier. */
  send(bytes: Buffer, deadline: number, nodeRequest: NodeRequest, now: number): PendingRequest {
    const request = new HttpRequest(bytes, deadline, nodeRequest, this);
    request.canShare = nodeRequest.canPipeline && this.pipelining.limit > 1;
    if (this.#isClosed) {
      request.settle(connectionLost(false));
      return request;
    }
    if (!this.#sweeper.isBusy) this.#sweeper.start();
    this.#dispatch(request, now);
    return request;
  }

  #dispatch(request: HttpRequest, now: number): void {
    const connection = this.#waiting.first === null ? this.#connectionFor(request, now) : null;
    if (connection === null) {
      this.#waiting.push(request);
      this.#connect();
    } else connection.send(request, now);
  }

  close(): void {
    this.#isClosed = true;
    this.#sweeper.stop();
    for (const connection of [...this.#connections]) connection.close();
    this.#failWaiting();
  }

  onAbort(request: HttpRequest): void {
    this.#waiting.remove(request);
    request.settle(aborted(false));
  }

  onOpen(connection: Connection, now: number): void {
    this.#connecting--;
    this.onAvailable(connection, now);
  }

  onAvailable(connection: Connection, now: number): void {
    let next = this.#waiting.first;
    while (next !== null && connection.accepts(next, now)) {
      this.#waiting.remove(next);
      connection.send(next, now);
      next = this.#waiting.first;
    }
    if (connection.requests.length === 0) this.#idle.push(connection);
  }

  onFlushNeeded(connection: Connection): void {
    if (this.#unflushed.includes(connection)) return;
    if (this.#unflushed.length === 0) setImmediate(flushAll, this.#unflushed);
    this.#unflushed.push(connection);
  }

  resend(request: HttpRequest): void {
    if (this.#isClosed) {
      request.settle(connectionLost(request.isSent));
      return;
    }
    request.canShare = false;
    request.isSent = false;
    request.holder = this;
    this.#dispatch(request, performance.now());
  }

  onClose(connection: Connection, wasOpen: boolean): void {
    removeFrom(this.#connections, connection);
    removeFrom(this.#idle, connection);
    if (this.#isClosed) return;
    if (!wasOpen) {
      this.#connecting--;
      this.#notConnected();
    }
    this.#connect();
  }

  #connectionFor(request: HttpRequest, now: number): Connection | null {
    const shared = request.canShare ? this.#unflushed.at(-1) : undefined;
    if (shared !== undefined && shared.requests.length > 0 && shared.accepts(request, now)) return shared;
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.accepts(request, now)) return idle;
      // The connection was idle for too long.
      idle.close();
    }
    return null;
  }

  #connect(): void {
    while (this.#connecting < this.#waiting.length) {
      if (this.#isFull && !this.#closeLingering()) return;
      if (this.#isFull) continue;
      this.#connecting++;
      this.#connections.push(new Connection(this, this.#dialer, performance.now()));
    }
  }

  get #isFull(): boolean {
    return this.#connections.length >= this.limits.connectionsMax;
  }

  /** Closes a connection that is only waiting for a response to discard. @returns false if there is none. */
  #closeLingering(): boolean {
    const lingering = this.#connections.find(({ isLingering }) => isLingering);
    lingering?.close();
    return lingering !== undefined;
  }

  /**
   * Fails one waiting request if open connections serve the queue. Otherwise fails all waiting requests, so that they
   * are retried on another node.
   */
  #notConnected(): void {
    if (this.#connections.length === this.#connecting) this.#failWaiting();
    else this.#waiting.shift()?.settle(connectionLost(false));
  }

  #failWaiting(): void {
    // Fails only the requests that are waiting now, not those added while the loop runs.
    for (let remaining = this.#waiting.length; remaining > 0; remaining--)
      this.#waiting.shift()?.settle(connectionLost(false));
  }

  /** @returns whether requests are pending; null if nothing is left to check. */
  #sweep(now: number): boolean | null {
    let request = this.#waiting.first;
    while (request !== null) {
      const { next } = request;
      if (now >= request.deadline) {
        this.#waiting.remove(request);
        request.settle(timeoutExchange(false));
      }
      request = next;
    }
    for (const connection of [...this.#connections]) connection.sweep(now);
    // Requests may be waiting while a connection has only responses to discard: replace it.
    this.#connect();
    if (this.#connections.length === 0) return this.#waiting.first === null ? null : true;
    return this.#waiting.first !== null || this.#connections.length > this.#idle.length;
  }
}

function flushAll(connections: Connection[]): void {
  const now = performance.now();
  for (const connection of connections) connection.flush(now);
  connections.length = 0;
}

function removeFrom(list: Connection[], connection: Connection): void {
  const at = list.lastIndexOf(connection);
  if (at >= 0) list.splice(at, 1);
}

const BUSY_INTERVAL_MS = 20;
const IDLE_INTERVAL_MS = 1_000;

/** One timer for all deadlines. Keeps the process alive only while requests are pending. */
class Sweeper {
  readonly #sweep: (now: number) => boolean | null;
  #timer: NodeJS.Timeout | null = null;
  isBusy = false;

  constructor(sweep: (now: number) => boolean | null) {
    this.#sweep = sweep;
  }

  start(): void {
    this.stop();
    this.isBusy = true;
    this.#timer = setInterval(() => this.#tick(), BUSY_INTERVAL_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.isBusy = false;
  }

  #tick(): void {
    const isWaiting = this.#sweep(performance.now());
    if (isWaiting === null) this.stop();
    else if (!isWaiting && this.isBusy) {
      this.stop();
      this.#timer = setInterval(() => this.#tick(), IDLE_INTERVAL_MS).unref();
    }
  }
}
