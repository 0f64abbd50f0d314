import { connect, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { READ_MAX_BYTES } from '../../http/buffer-pool.ts';
import type { Exchange } from '../exchange.ts';
import type { UpstreamLimits } from '../limits.ts';
import {
  aborted,
  BodyStreamer,
  connectionLost,
  endStream,
  type HttpRequest,
  notifyFailed,
  overBudget,
  type RequestHolder,
  RequestQueue,
  type StreamingConnection,
  type StreamingContext,
  timeoutExchange,
  tooLarge,
} from './http-request.ts';
import { HttpResponseReader } from './http-response-reader.ts';
import type { Pipelining } from './pipelining.ts';

/** How long to wait for the response to an aborted request, so that its connection can be reused. */
const LINGER_MS = 500;

/**
 * Number of sweeps (20 ms apart) without a response after which the requests behind the first are sent again. Sweeps
 * are counted instead of time, so that delays of this process are not taken for delays of the node.
 */
const LATE_SWEEPS = 10;

export interface ConnectionContext extends StreamingContext {
  readonly limits: UpstreamLimits;
  readonly pipelining: Pipelining;
  /** Memory budget for buffered bodies, shared by all nodes. */
  readonly responseBudget: ByteBudget;
  /** @param now - `performance.now()`, here and below. */
  onOpen(connection: Connection, now: number): void;
  onAvailable(connection: Connection, now: number): void;
  /** The connection has unsent requests: `flush` sends all of them together. */
  onFlushNeeded(connection: Connection): void;
  /** The request is safe to repeat and got no response, because of another request on its connection. */
  resend(request: HttpRequest): void;
  /** Called once. @param wasOpen - false if the connection could not be opened. */
  onClose(connection: Connection, wasOpen: boolean): void;
  readonly hasCapacity: boolean;
}

export class Connection implements RequestHolder, StreamingConnection {
  readonly #context: ConnectionContext;
  readonly #socket: Socket;
  readonly #reader: HttpResponseReader;
  readonly streamer: BodyStreamer;
  readonly requests = new RequestQueue();
  #state: 'connecting' | 'open' | 'closed' = 'connecting';
  /** Deadline for opening the connection, later for its next request; on the `performance.now()` clock. */
  #waitsUntil: number;
  #isSuspect = false;
  /** Time when the current batch, that is, the requests in flight, was sent. */
  #sentAt = 0;
  /** Number of responses to the batch so far, and latency of the first response. */
  #received = 0;
  #firstMs = 0;
  /** Sweeps since the last response. */
  #sweeps = 0;

  constructor(context: ConnectionContext, dialer: Dialer, now: number) {
    this.#context = context;
    this.#reader = new HttpResponseReader(context.limits, context.responseBudget);
    this.#waitsUntil = now + context.limits.connectTimeoutMs;
    this.#socket = dialer.dial(this);
    this.streamer = new BodyStreamer(this, context, this.#reader, this.#socket);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get isLingering(): boolean {
    return this.#state === 'open' && this.requests.first !== null && !this.#hasWaiting(null);
  }

  accepts({ canShare }: HttpRequest, now: number): boolean {
    const { first, length } = this.requests;
    if (this.#state !== 'open' || this.#isSuspect) return false;
    if (first === null) return now < this.#waitsUntil;
    return canShare && first.canShare && !first.isSent && length < this.#context.pipelining.limit;
  }

  send(request: HttpRequest, now: number): void {
    request.holder = this;
    this.requests.push(request);
    const isFull = this.requests.length >= this.#context.pipelining.limit;
    if (request.canShare && !isFull) this.#context.onFlushNeeded(this);
    else this.flush(now);
  }

  /** Sends all unsent requests in one write. */
  flush(now: number): void {
    const { first } = this.requests;
    if (this.#state !== 'open' || first === null) return;
    if (!first.isSent) {
      this.#sentAt = now;
      this.#received = 0;
      this.#sweeps = 0;
    }
    if (!first.isSent && first.next === null) {
      first.isSent = true;
      this.#socket.write(first.bytes);
      return;
    }
    const unsent = this.requests.takeUnsent();
    if (unsent !== null) this.#socket.write(unsent);
  }

  sweep(now: number): void {
    if (this.requests.length > 1 && ++this.#sweeps === LATE_SWEEPS) this.#onLate();
    if (this.isLingering) this.#endLingering(now);
    else if (this.requests.first !== null) this.#abortExpired(now);
    else if (now >= this.#waitsUntil) this.close();
  }

  close(): void {
    if (this.#state === 'closed') return;
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    this.#socket.destroy();
    this.#reader.free();
    this.#context.onClose(this, wasOpen);
    const bodyListener = this.streamer.end();
    const lost = this.requests.shift();
    if (this.requests.first !== null) this.#context.pipelining.onFault(performance.now());
    if (lost !== null) notifyFailed(lost, bodyListener, connectionLost(lost.isSent));
    this.#resendAll();
  }

  onOpen(): void {
    if (this.#state !== 'connecting') return;
    this.#state = 'open';
    const now = performance.now();
    this.#waitsUntil = now + this.#context.limits.idleTimeoutMs;
    this.#context.onOpen(this, now);
  }

  /** @param bytes - valid only until this method returns, unless they are in a buffer from `readBuffer`. */
  onData(bytes: Buffer, length: number): void {
    let at = 0;
    const now = performance.now();
    try {
      while (at < length && this.#state === 'open') {
        const request = this.requests.first;
        // An unsolicited response would be mistaken for the response to the next request.
        if (request === null || !request.isSent) {
          this.close();
          return;
        }
        this.#reader.streamThreshold = this.streamer.streamThresholdFor(request);
        at = this.#reader.read(bytes, at, length);
        if (this.#reader.readState === 'more') {
          this.streamer.consume(request);
          return;
        }
        if (this.#reader.readState === 'complete') this.#onResponseComplete(request, at < length, now);
        else this.#onInvalidResponse(request);
      }
    } catch {
      // An exception must affect only this connection.
      this.close();
    }
  }

  onEnd(): void {
    if (this.#state !== 'open') return;
    try {
      this.#finish();
    } catch {
      // An exception must affect only this connection.
    }
    this.close();
  }

  onAbort(request: HttpRequest): void {
    request.deadline = Math.min(request.deadline, performance.now() + LINGER_MS);
    if (this.#canLinger(request)) request.settle(aborted(true));
    else this.#abortRequest(request, aborted(request.isSent));
  }

  #finish(): void {
    this.#reader.finish();
    const request = this.requests.first;
    if (request?.isSent === true && this.#reader.readState === 'complete')
      this.#onResponseComplete(request, false, performance.now());
    else if (request?.isSent === true && this.#reader.readState !== 'more') this.#onInvalidResponse(request);
  }

  #onInvalidResponse(request: HttpRequest): void {
    const { readState } = this.#reader;
    if (readState === 'too-large') this.#abortRequest(request, tooLarge, true);
    else if (readState === 'over-budget') this.#abortRequest(request, overBudget, true);
    else this.close();
  }

  /** @param now - time of the read, which is the same for all responses that arrived together. */
  #onResponseComplete(request: HttpRequest, moreFollows: boolean, now: number): void {
    const reader = this.#reader;
    const { keepAlive, keepAliveMs, status, retryAfter } = reader;
    const bodyListener = this.streamer.bodyListener === null ? null : this.streamer.end();
    const body = bodyListener === null ? reader.body.take() : reader.body.piece(!moreFollows);
    reader.next();
    this.requests.remove(request);
    request.holder = detachedHolder;
    const isAlone = this.requests.first === null;
    this.#measure(request, isAlone, now);
    if (!keepAlive) this.#resendAll();
    // Extra or unwritten bytes are a fault, but with other requests in flight, the bytes may be theirs.
    if (!keepAlive || (isAlone && (moreFollows || this.#socket.writableLength > 0))) this.close();
    const isValid =
      bodyListener === null
        ? request.settle({ kind: 'response', status, retryAfter, body })
        : endStream(request, bodyListener, body);
    if (!isValid && !isAlone) this.#context.pipelining.onFault(now);
    if (!isValid) this.#resendAll();
    if (this.#state === 'closed') return;
    const { idleTimeoutMs } = this.#context.limits;
    const idleMs = keepAliveMs === null ? idleTimeoutMs : Math.min(idleTimeoutMs, keepAliveMs);
    if (!isValid || (idleMs <= 0 && this.requests.first === null)) {
      this.close();
      return;
    }
    this.#waitsUntil = now + idleMs;
    this.#context.onAvailable(this, now);
  }

  #measure({ nodeRequest }: HttpRequest, isLast: boolean, now: number): void {
    this.#sweeps = 0;
    if (this.#received++ === 0) this.#firstMs = now - this.#sentAt;
    if (!isLast || !nodeRequest.canPipeline) return;
    const { pipelining } = this.#context;
    // While requests share connections, a request alone on its connection does not count.
    if (this.#received === 1 && pipelining.limit > 1) return;
    const spreadMs = now - this.#sentAt - this.#firstMs;
    pipelining.onBatch(this.#received, this.#firstMs, spreadMs, now);
  }

  /** Requests behind the first one are sent again; their responses on this connection are discarded. */
  #onLate(): void {
    this.#context.pipelining.onLate();
    const behind: HttpRequest[] = [];
    for (let request = this.requests.first?.next ?? null; request !== null; request = request.next)
      behind.push(request);
    // Replace all before sending any again: the pool may close a connection on which no request waits.
    for (const request of behind) {
      this.requests.remove(request);
      this.requests.push(request.createStandIn(detachedHolder));
    }
    for (const request of behind) if (!request.isSettled) this.#context.resend(request);
  }

  #resendAll(): void {
    for (let request = this.requests.shift(); request !== null; request = this.requests.shift())
      if (!request.isSettled) this.#context.resend(request);
  }

  /** Whether to wait for the response to an aborted request, so that the connection can be reused. */
  #canLinger({ isSent, nodeRequest }: HttpRequest): boolean {
    return (
      isSent &&
      nodeRequest.isLight &&
      this.streamer.bodyListener === null &&
      !this.#reader.isInBody &&
      this.#context.hasCapacity
    );
  }

  #endLingering(now: number): void {
    if (now >= (this.requests.first?.deadline ?? 0)) this.close();
  }

  #abortExpired(now: number): void {
    let request = this.requests.first;
    while (request !== null && this.#state !== 'closed') {
      const { next } = request;
      if (now >= request.deadline && !request.isSettled) {
        this.#isSuspect ||= request.isSent;
        this.#abortRequest(request, timeoutExchange(request.isSent));
      }
      request = next;
    }
  }

  /** Fails a request. If it was sent, closes the connection or, if other requests wait, only discards the response. */
  #abortRequest(request: HttpRequest, exchange: Exchange, mustClose = false): void {
    const bodyListener = request === this.requests.first ? this.streamer.end() : null;
    const isBlocking = mustClose || bodyListener !== null || (request.isSent && !this.#hasWaiting(request));
    if (isBlocking || !request.isSent) {
      this.requests.remove(request);
      request.holder = detachedHolder;
    }
    if (isBlocking) {
      this.#resendAll();
      this.close();
    }
    notifyFailed(request, bodyListener, exchange);
    if (this.#state === 'open' && this.requests.first === null)
      this.#context.onAvailable(this, performance.now());
  }

  #hasWaiting(except: HttpRequest | null): boolean {
    for (let request = this.requests.first; request !== null; request = request.next) {
      if (request !== except && !request.isSettled) return true;
    }
    return false;
  }
}

const detachedHolder: RequestHolder = { onAbort: (request) => request.settle(aborted(request.isSent)) };

const TCP_KEEP_ALIVE_MS = 60_000;

/** Read buffer shared by all connections without TLS. Data needed for longer is copied before the next read. */
const sharedBuffer = Buffer.allocUnsafeSlow(READ_MAX_BYTES);

/**
 * Read options for a connection without TLS. Reads use the shared buffer, or the streamer's buffer for streamed bodies.
 * node:net calls `buffer` after each read, and before the first read for each address that it tries.
 * Source: Node.js, lib/net.js, `initSocketHandle`; lib/internal/stream_base_commons.js, `onStreamRead`.
 */
function readOptionsFor(connection: Connection): OnReadOpts {
  let last: Uint8Array | null = null;
  return {
    buffer: () => {
      if (last === null) return sharedBuffer;
      const { streamer } = connection;
      const next = streamer.bodyListener === null ? sharedBuffer : (streamer.readBuffer ?? sharedBuffer);
      return next === last ? SAME_BUFFER : next;
    },
    callback: (length, bytes) => {
      last = bytes;
      connection.onData(bytes as Buffer, length);
      return true;
    },
  };
}

const SAME_BUFFER = undefined as unknown as Uint8Array;

/** Resolves the host name for each connection and tries all of its addresses. */
export class Dialer {
  readonly #tls: boolean;
  readonly #address: Readonly<{ host: string; port: number }>;
  readonly #serverName: string;
  #session: Buffer | undefined;

  constructor({ protocol, hostname, port }: URL, serverName: string) {
    this.#tls = protocol === 'https:';
    const defaultPort = this.#tls ? 443 : 80;
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    this.#address = { host, port: port === '' ? defaultPort : Number(port) };
    this.#serverName = serverName;
  }

  dial(connection: Connection): Socket {
    const socket = this.#tls ? this.#dialTls(connection) : this.#dialPlain(connection);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    // Pending requests keep the process alive; connections do not.
    socket.unref();
    // A `close` event follows.
    socket.on('error', () => undefined);
    socket.once('end', () => connection.onEnd());
    socket.once('close', () => connection.close());
    return socket;
  }

  #dialPlain(connection: Connection): Socket {
    const socket = connect({ ...this.#address, onread: readOptionsFor(connection) });
    socket.once('connect', () => connection.onOpen());
    return socket;
  }

  #dialTls(connection: Connection): TLSSocket {
    const socket = connectTls({
      ...this.#address,
      // SNI does not allow IP addresses. Without a server name, the certificate is checked against `host`.
      servername: isIP(this.#serverName) === 0 ? this.#serverName : '',
      ALPNProtocols: ['http/1.1'],
      ...(this.#session !== undefined && { session: this.#session }),
    });
    socket.on('session', (session) => {
      this.#session = session;
    });
    socket.on('data', (bytes: Buffer) => connection.onData(bytes, bytes.length));
    socket.once('secureConnect', () => connection.onOpen());
    return socket;
  }
}
