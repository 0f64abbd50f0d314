import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '../base/log.ts';
import { Failure, type FailureCode } from '../protocol/errors.ts';
import { refuse, refuseSocket } from './http-refuse.ts';
import type { HttpHandler, HttpRoutes } from './http-route.ts';

export type HttpOptions = Readonly<{
  /** Address to listen on. */
  host: string;
  /** 0 takes a free port. */
  port: number;
  headersMaxBytes: number;
  /** Time for the headers of a request to arrive. */
  headersTimeoutMs: number;
  /** Time for a whole request to arrive, its body included. */
  requestTimeoutMs: number;
  /** Time a connection may be idle between requests. */
  keepAliveTimeoutMs: number;
  /** Time a connection with a request may see no byte in either direction: a client that does not read. */
  idleTimeoutMs: number;
  /** Connections beyond this many are closed at once. */
  connectionsMax: number;
  /** Requests beyond this many at a time get OVERLOADED. */
  requestsInFlightMax: number;
}>;

export const httpOptions: HttpOptions = {
  host: '127.0.0.1',
  port: 0,
  headersMaxBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  idleTimeoutMs: 120_000,
  connectionsMax: 10_000,
  requestsInFlightMax: 5_000,
};

/** How often node:http looks for requests that are overdue, as a share of the shortest timeout. */
const TIMEOUT_CHECKS = 4;

/** The last response begun on a connection. */
const lastResponse = Symbol('last response');
type Connection = Duplex & { [lastResponse]?: ServerResponse };

/**
 * The HTTP door: one listener, its limits, and the way from a path to whoever answers it. It knows no dialect.
 */
export class HttpServer {
  /** The listener itself, for dialects that upgrade connections. */
  readonly server: Server;
  readonly #routes: HttpRoutes;
  readonly #options: HttpOptions;
  readonly #log: Logger;
  #inFlight = 0;
  #drained: Promise<boolean> | null = null;
  #onIdle: (() => void) | null = null;
  /** One function for all responses. */
  readonly #onClose = (): void => {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#onIdle?.();
  };

  constructor(routes: HttpRoutes, log: Logger, options: Partial<HttpOptions> = {}) {
    this.#options = { ...httpOptions, ...options };
    this.#routes = routes;
    this.#log = log;
    const { headersMaxBytes, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = this.#options;
    this.server = createServer({
      maxHeaderSize: headersMaxBytes,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.ceil(Math.min(headersTimeoutMs, requestTimeoutMs) / TIMEOUT_CHECKS),
    });
    this.server.timeout = this.#options.idleTimeoutMs;
    this.server.maxConnections = this.#options.connectionsMax;
    this.server.on('request', (request, response) => this.#take(request, response));
    this.server.on('checkContinue', (request, response) => this.#take(request, response));
    this.server.on('clientError', (fault: NodeJS.ErrnoException, socket) => {
      if (this.#mayAnswer(socket)) refuseSocket(socket as Socket, codeOf(fault));
      else socket.destroy();
    });
  }

  /** Whether `drain` has begun. */
  get draining(): boolean {
    return this.#drained !== null;
  }

  /** Requests that are being answered. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Begins to listen. @returns the address, with the port that was taken. */
  listen(): Promise<AddressInfo> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host, port }, () => {
        this.server.off('error', reject);
        this.server.on('error', (fault) => this.#log.error({ err: fault }, 'the listener went wrong'));
        resolve(this.server.address() as AddressInfo);
      });
    });
  }

  /**
   * Stops without dropping anything: readiness says no from now on and every answer closes its connection; after
   * `noticeMs`, in which load balancers can take notice, nothing new is accepted; requests in flight have
   * `graceMs` to finish, then what is left is cut.
   * @returns whether all of them finished. Asked again, the same drain.
   */
  drain(graceMs: number, noticeMs = 0): Promise<boolean> {
    this.#drained ??= this.#drain(graceMs, noticeMs);
    return this.#drained;
  }

  async #drain(graceMs: number, noticeMs: number): Promise<boolean> {
    if (noticeMs > 0) await new Promise((resolve) => setTimeout(resolve, noticeMs));
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    const finished = await this.#idle(graceMs);
    // Also those that never sent a request: node:http does not count them as idle and would wait for them.
    this.server.closeAllConnections();
    await closed;
    return finished;
  }

  #idle(graceMs: number): Promise<boolean> {
    if (this.#inFlight === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), graceMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  /**
   * Whether bytes may be written on a connection outside of any response: not behind half an answer, and not in
   * front of answers that are still to come.
   */
  #mayAnswer(socket: Connection): boolean {
    const last = socket[lastResponse];
    if (last === undefined || last.writableFinished) return true;
    return last.socket !== null && !last.headersSent;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    this.#inFlight += 1;
    (request.socket as Connection)[lastResponse] = response;
    response.on('close', this.#onClose);
    if (this.draining) response.setHeader('connection', 'close');
    if (this.#inFlight > this.#options.requestsInFlightMax) {
      refuse(request, response, new Failure('OVERLOADED'));
      return;
    }
    const { path, query } = splitUrl(request.url ?? '/');
    const verbs = this.#routes.get(path);
    if (verbs === undefined) {
      refuse(request, response, new Failure('NOT_FOUND'));
      return;
    }
    const handler =
      verbs.get(request.method ?? '') ?? (request.method === 'HEAD' ? verbs.get('GET') : undefined);
    if (handler === undefined) {
      const allow = [...verbs.keys()].join(', ');
      refuse(request, response, new Failure('METHOD_NOT_ALLOWED'), { allow });
      return;
    }
    this.#run(handler, request, response, query);
  }

  #run(handler: HttpHandler, request: IncomingMessage, response: ServerResponse, query: string): void {
    const fail = (thrown: unknown): void => {
      this.#log.error({ err: thrown }, 'a handler went wrong');
      if (response.headersSent) response.destroy();
      else refuse(request, response, new Failure('INTERNAL'));
    };
    try {
      handler(request, response, query)?.catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  }
}

/** Path and query of a request target; of an absolute one (RFC 9112 §3.2.2) without scheme and authority. */
function splitUrl(url: string): { path: string; query: string } {
  const start = url.startsWith('/') ? 0 : Math.max(0, url.indexOf('/', url.indexOf('://') + 3));
  const mark = url.indexOf('?', start);
  return mark === -1
    ? { path: url.slice(start), query: '' }
    : { path: url.slice(start, mark), query: url.slice(mark + 1) };
}

function codeOf({ code }: NodeJS.ErrnoException): FailureCode {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT';
  return code === 'HPE_HEADER_OVERFLOW' ? 'HEADERS_TOO_LARGE' : 'MALFORMED_HTTP';
}
