import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../base/log.ts';
import { Failure } from '../../protocol/errors.ts';
import { ConnectionCaps, setConnectionsMax } from '../connection-caps.ts';
import { listen } from '../connection-lifecycle.ts';
import { TlsEntry, type TlsIdentity } from '../tls.ts';
import {
  closeAfterResponses,
  isPipelined,
  isUntrusted,
  markUntrusted,
  OpenRequests,
  responsesOf,
  type StartRequest,
  setPipelined,
} from './connection.ts';
import { type ClientError, codeOf, faultOfHead, splitUrl, targetIn } from './decode.ts';
import { HttpDrain } from './drain.ts';
import { type RejectionBodies, rejectionBodyOf, rejectRequest, rejectSocket } from './encode.ts';
import { type HttpOptions, httpOptions } from './options.ts';
import {
  type FallbackListener,
  HttpDispatcher,
  type HttpRoutes,
  type HttpUpgrade,
  type Listener,
  type ListenerLoad,
  pathNotFound,
} from './routes.ts';

/** HTTP listener with its limits and routing, independent of the API formats. */
export class HttpServer implements FallbackListener {
  readonly server: Server;
  readonly #routes: HttpRoutes;
  readonly #upgrades: readonly HttpUpgrade[];
  readonly #rejectionBodies: RejectionBodies;
  readonly #options: HttpOptions;
  readonly #log: Logger;
  readonly #caps: ConnectionCaps;
  /** The connection listener of node:http. */
  readonly #serveHttp: (socket: Socket) => void;
  /** Receives plaintext connections first. */
  readonly #fastPath: Listener | null;
  readonly #tls: TlsEntry | null;
  readonly #strictTransport: string | null;
  readonly #dispatcher: HttpDispatcher;
  readonly #load: ListenerLoad = { inFlight: 0, isDraining: false };
  readonly #openRequests = new OpenRequests(this.#load, () => this.onRequestEnd());
  readonly #drain: HttpDrain;
  #overdueTimer: NodeJS.Timeout | null = null;

  constructor(
    routes: HttpRoutes,
    log: Logger,
    options: Partial<HttpOptions> = {},
    upgrades: readonly HttpUpgrade[] = [],
    rejectionBodies: RejectionBodies = new Map(),
    fastPath: Listener | null = null,
  ) {
    this.#options = { ...httpOptions, ...options };
    this.#routes = routes;
    this.#upgrades = upgrades;
    this.#rejectionBodies = rejectionBodies;
    this.#dispatcher = new HttpDispatcher(routes, rejectionBodies, log);
    this.#fastPath = fastPath;
    this.#log = log;
    fastPath?.setFallback(this, this.#load);
    this.server = createListener(this.#options, upgrades);
    this.#caps = new ConnectionCaps(this.#options, this.#options.proxies);
    const { tls, headersTimeoutMs: handshakeTimeoutMs } = this.#options;
    this.#serveHttp = interceptConnections(this.server, (socket) => this.#onConnection(socket));
    const entry = { protocol: ALPN, handshakeTimeoutMs };
    this.#tls = tls === null ? null : new TlsEntry({ ...tls, ...entry }, this.#serveHttp);
    const seconds = tls?.strictTransportSeconds ?? 0;
    this.#strictTransport = seconds === 0 ? null : `max-age=${seconds}`;
    const holders = { server: this.server, fastPath, tls: this.#tls, upgrades };
    this.#drain = new HttpDrain({ ...holders, load: this.#load });
    const handleRequest: StartRequest = (response) => this.#handle(response, true);
    const rejectExpectation: StartRequest = (response) => this.#handle(response, false);
    this.server.on('request', (_request, response) => this.#enqueue(response, handleRequest));
    this.server.on('checkContinue', (_request, response) => this.#enqueue(response, handleRequest));
    this.server.on('checkExpectation', (_request, response) => this.#enqueue(response, rejectExpectation));
    this.server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head));
    this.server.on('clientError', (fault: ClientError, socket) => this.#onClientError(fault, socket));
  }

  get draining(): boolean {
    return this.#load.isDraining;
  }

  get inFlight(): number {
    return this.#load.inFlight;
  }

  get isSecure(): boolean {
    return this.#tls !== null;
  }

  get connectionsRefused(): number {
    return this.#caps.rejected;
  }

  /** Applies to new connections. @throws Error if the identity is invalid or the server has no TLS. */
  reloadTls(identity: TlsIdentity): void {
    if (this.#tls === null) throw new Error('Cannot reload the certificate: the HTTP server has no TLS');
    this.#tls.reload(identity);
  }

  listen(): Promise<AddressInfo> {
    this.#overdueTimer ??= setInterval(() => this.#cutOverdue(), checkIntervalMs(this.#options)).unref();
    return listen(this.server, this.#options, this.#log, 'HTTP listener failed');
  }

  /**
   * Reports not ready and closes each connection with its next response. After `noticeMs`, which gives load balancers
   * time to react, stops listening. Requests then have `graceMs` to finish. @returns whether all of them did.
   */
  drain(graceMs: number, noticeMs = 0): Promise<boolean> {
    const drained = this.#drain.start(graceMs, noticeMs);
    this.#openRequests.closeAfterResponses();
    return drained.finally(() => {
      if (this.#overdueTimer !== null) clearInterval(this.#overdueTimer);
    });
  }

  #onConnection(socket: Socket): void {
    if (!this.#caps.accept(socket)) return;
    if (this.#tls !== null) this.#tls.accept(socket);
    else if (this.#fastPath !== null) this.#fastPath.accept(socket);
    else this.#serveHttp(socket);
  }

  adopt(socket: Socket, bytes: Buffer, pipelined: boolean): void {
    setPipelined(socket, pipelined);
    this.#serveHttp(socket);
    socket.unshift(bytes);
    socket.resume();
  }

  onRequestEnd(): void {
    this.#drain.onRequestEnd();
  }

  #cutOverdue(): void {
    this.#openRequests.reportOverdue(performance.now() - this.#options.requestTimeoutMs, ({ socket }) =>
      this.#onClientError({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket),
    );
  }

  #enqueue(response: ServerResponse, start: StartRequest): void {
    // The parser keeps reading while a rejection is being sent, so ignore any later requests.
    if (!isUntrusted(response.req.socket)) this.#openRequests.enqueue(response, start);
  }

  /** @param isUnderstood - false for an unknown Expect header. */
  #handle(response: ServerResponse, isUnderstood: boolean): void {
    const { req: request } = response;
    if (this.draining) response.setHeader('connection', 'close');
    if (this.#strictTransport !== null) response.setHeader(STRICT_TRANSPORT, this.#strictTransport);
    const { path, query } = splitUrl(request.url ?? '/');
    const bodyOf = rejectionBodyOf(this.#rejectionBodies, path);
    if (this.inFlight > this.#options.requestsInFlightMax) {
      rejectRequest(response, new Failure('OVERLOADED'), {}, bodyOf);
      return;
    }
    const fault = isUnderstood ? faultOfHead(request) : 'MALFORMED_HTTP';
    if (fault !== null) {
      markUntrusted(request.socket);
      rejectRequest(response, new Failure(fault), { connection: 'close' }, bodyOf);
      return;
    }
    this.#dispatcher.dispatch(response, query, path);
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    // node:http has removed its own error listeners.
    socket.on('error', ignore);
    if (responsesOf(socket).length > 0) {
      // Responses to earlier requests on this connection are outstanding.
      if (!closeAfterResponses(socket)) socket.destroy();
      return;
    }
    if (isPipelined(socket)) {
      // The fast path sent the response to the previous request, so node:http has no open response.
      socket.destroySoon();
      return;
    }
    const { path, query } = splitUrl(request.url ?? '/');
    const upgrade = this.#upgrades.find(({ paths }) => paths.includes(path));
    if (upgrade === undefined || this.draining || faultOfHead(request) !== null) {
      const code = this.draining ? 'DRAINING' : 'MALFORMED_HTTP';
      const isNotFound = !this.draining && upgrade === undefined;
      const failure = isNotFound ? pathNotFound(this.#routes) : new Failure(code);
      rejectSocket(socket, failure, {}, rejectionBodyOf(this.#rejectionBodies, path));
      return;
    }
    try {
      upgrade.accept(request, socket, head, query);
    } catch (thrown) {
      this.#log.error({ err: thrown }, 'Connection upgrade failed unexpectedly');
      socket.destroy();
    }
  }

  /**
   * Finishes the responses to earlier, complete requests first, because an executed call must not look rejected. After
   * a partial response, the connection closes without a rejection.
   */
  #onClientError(fault: ClientError, socket: Duplex): void {
    if (closeAfterResponses(socket)) return;
    const responses = responsesOf(socket);
    if (isPipelined(socket) || responses.some(({ headersSent }) => headersSent)) {
      (socket as Socket).destroySoon();
      return;
    }
    const url = responses.at(-1)?.req.url ?? targetIn(fault.rawPacket);
    const bodyOf = rejectionBodyOf(this.#rejectionBodies, url === null ? null : splitUrl(url).path);
    rejectSocket(socket as Socket, new Failure(codeOf(fault)), {}, bodyOf);
  }
}

const ignore = (): void => {};

/** ALPN protocol. Source: RFC 7301 §6. */
const ALPN = 'http/1.1';
const STRICT_TRANSPORT = 'strict-transport-security';

const TIMEOUT_CHECKS = 4;

export const checkIntervalMs = ({ headersTimeoutMs, requestTimeoutMs }: HttpOptions): number =>
  Math.ceil(Math.min(headersTimeoutMs, requestTimeoutMs) / TIMEOUT_CHECKS);

export function createListener(options: HttpOptions, upgrades: readonly HttpUpgrade[]): Server {
  const { headersMaxBytes, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, exemptTimeoutMaxMs } =
    options;
  const server = createServer({
    maxHeaderSize: headersMaxBytes,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    // node:http has one timeout for all requests; OpenRequests enforces the shorter `requestTimeoutMs`.
    requestTimeout: Math.max(requestTimeoutMs, exemptTimeoutMaxMs),
    keepAliveTimeout: keepAliveTimeoutMs,
    // decode.ts checks the Host header, so that the rejection has a body.
    requireHostHeader: false,
    // Unsupported upgrades are ignored (RFC 9110 §7.8).
    shouldUpgradeCallback: ({ method, headers }) =>
      method === 'GET' && upgrades.some(({ protocol }) => protocol === headers.upgrade?.toLowerCase()),
    connectionsCheckingInterval: checkIntervalMs(options),
  });
  server.timeout = options.idleTimeoutMs;
  setConnectionsMax(server, options.connectionsMax);
  // By default, node:http silently drops headers beyond the first 2,000. Their total size is already limited.
  server.maxHeadersCount = 0;
  return server;
}

export function interceptConnections(
  server: Server,
  onConnection: (socket: Socket) => void,
): (socket: Socket) => void {
  const [original] = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', onConnection);
  return (socket) => original?.call(server, socket);
}
