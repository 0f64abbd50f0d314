import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../base/log.ts';
import { Failure } from '../protocol/errors.ts';
import { type ClientFault, codeOf, targetIn } from './client-fault.ts';
import { ConnectionCaps } from './connection-caps.ts';
import type { DoorBehind, FrontDoor } from './front-door.ts';
import { type HttpOptions, httpOptions } from './http-options.ts';
import { type Refusals, refusalOf, refuse, refuseSocket } from './http-refuse.ts';
import {
  findNoPage,
  findVerbs,
  type HttpHandler,
  type HttpRoutes,
  type HttpUpgrade,
  noSuchPath,
} from './http-route.ts';
import { keepsOwnTime } from './own-time.ts';
import { faultOfHead } from './request-head.ts';
import { splitUrl } from './request-target.ts';
import { TlsEntry } from './tls-entry.ts';
import type { TlsIdentity } from './tls-identity.ts';

/** How often requests are looked for that are overdue, as a share of the shortest timeout. */
const TIMEOUT_CHECKS = 4;

/** While the service stops, how long a connection without a request is left for one that is on its way. */
const LEAVING_MS = 300;

/** The responses under way on a connection, in the order of their requests. */
const underWay = Symbol('responses under way');
/** Whether the first bytes of a connection came while a door in front answered what stood before them. */
const behindAnswer = Symbol('behind an answer');
/** A request on it was refused for what it is: whatever is read behind it may be anything. */
const spoiled = Symbol('spoiled');
type Connection = Duplex & {
  [underWay]?: Set<ServerResponse>;
  [behindAnswer]?: boolean;
  [spoiled]?: boolean;
};

/**
 * The HTTP door: one listener, its limits, and the way from a path to whoever answers it. It knows no dialect.
 */
export class HttpServer implements DoorBehind {
  /** The listener itself, for dialects that upgrade connections. */
  readonly server: Server;
  readonly #routes: HttpRoutes;
  readonly #upgrades: readonly HttpUpgrade[];
  readonly #refusals: Refusals;
  readonly #options: HttpOptions;
  readonly #log: Logger;
  readonly #caps: ConnectionCaps;
  /** What node:http does with a connection. */
  readonly #speak: (socket: Socket) => void;
  /** Sees connections in plain text first; null: nobody does. */
  readonly #front: FrontDoor | null;
  /** null: in plain text. */
  readonly #tls: TlsEntry | null;
  /** The header that goes with every answer over TLS; null for none. */
  readonly #strictTransport: string | null;
  /** Every response under way, with when the head of its request was there, in ms of `performance.now()`. */
  readonly #open = new Map<ServerResponse, number>();
  #overdueTimer: NodeJS.Timeout | null = null;
  #drained: Promise<boolean> | null = null;
  #onIdle: (() => void) | null = null;

  constructor(
    routes: HttpRoutes,
    log: Logger,
    options: Partial<HttpOptions> = {},
    upgrades: readonly HttpUpgrade[] = [],
    refusals: Refusals = new Map(),
    front: FrontDoor | null = null,
  ) {
    this.#options = { ...httpOptions, ...options };
    this.#routes = routes;
    this.#upgrades = upgrades;
    this.#refusals = refusals;
    this.#front = front;
    this.#log = log;
    front?.standBefore(this);
    const { headersMaxBytes, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = this.#options;
    const { ownTimeMaxMs } = this.#options;
    this.server = createServer({
      maxHeaderSize: headersMaxBytes,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      // It knows one time for all requests; what most of them have is looked after here.
      requestTimeout: Math.max(requestTimeoutMs, ownTimeMaxMs),
      keepAliveTimeout: keepAliveTimeoutMs,
      // Ours to refuse, with a body.
      requireHostHeader: false,
      // Whoever asks for another protocol is answered as if it had not asked (RFC 9110 §7.8).
      shouldUpgradeCallback: ({ method, headers }) =>
        method === 'GET' && upgrades.some(({ protocol }) => protocol === headers.upgrade?.toLowerCase()),
      connectionsCheckingInterval: this.#checkIntervalMs,
    });
    this.server.timeout = this.#options.idleTimeoutMs;
    this.server.maxConnections = this.#options.connectionsMax;
    // By itself it leaves out headers beyond so many without a word; their bytes are bounded already.
    this.server.maxHeadersCount = 0;
    this.#caps = new ConnectionCaps(this.#options, this.#options.proxies);
    const { tls } = this.#options;
    this.#speak = takeOver(this.server, (socket) => this.#enter(socket));
    const entry = { protocol: ALPN, handshakeTimeoutMs: headersTimeoutMs };
    this.#tls = tls === null ? null : new TlsEntry({ ...tls, ...entry }, this.#speak);
    const seconds = tls?.strictTransportSeconds ?? 0;
    this.#strictTransport = seconds === 0 ? null : `max-age=${seconds}`;
    this.server.on('request', (request, response) => this.#take(request, response));
    this.server.on('checkContinue', (request, response) => this.#take(request, response));
    this.server.on('checkExpectation', (request, response) => this.#take(request, response, false));
    this.server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head));
    this.server.on('clientError', (fault: ClientFault, socket) => this.#refuseClient(fault, socket));
  }

  get #checkIntervalMs(): number {
    const { headersTimeoutMs, requestTimeoutMs } = this.#options;
    return Math.ceil(Math.min(headersTimeoutMs, requestTimeoutMs) / TIMEOUT_CHECKS);
  }

  /** Whether `drain` has begun. */
  get draining(): boolean {
    return this.#drained !== null;
  }

  /** Requests that are being answered. */
  get inFlight(): number {
    return this.#open.size + (this.#front?.inFlight ?? 0);
  }

  /** Whether clients come with TLS. */
  get isSecure(): boolean {
    return this.#tls !== null;
  }

  /** Connections that were closed at once, since their address has too many. */
  get connectionsRefused(): number {
    return this.#caps.refused;
  }

  /** Connections from now on get this certificate. @throws Error when it cannot be read, or the door has no TLS. */
  reloadTls(identity: TlsIdentity): void {
    if (this.#tls === null) throw new Error('the door was made without TLS');
    this.#tls.reload(identity);
  }

  /** Begins to listen. @returns the address, with the port that was taken. */
  listen(): Promise<AddressInfo> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.#overdueTimer ??= setInterval(() => this.#cutOverdue(), this.#checkIntervalMs).unref();
      this.server.listen({ host, port }, () => {
        this.server.off('error', reject);
        this.server.on('error', (fault) => this.#log.error({ err: fault }, 'the listener went wrong'));
        resolve(this.server.address() as AddressInfo);
      });
    });
  }

  /**
   * Stops without dropping anything: readiness says no from now on and every answer closes its connection; after
   * `noticeMs`, in which load balancers can take notice, no new connections are accepted; requests in flight, and
   * those that are just arriving on open connections, have `graceMs` to finish, then what is left is cut.
   * Connections that left HTTP are told so and have as long.
   * @returns whether all of them finished. Asked again, the same drain.
   */
  drain(graceMs: number, noticeMs = 0): Promise<boolean> {
    if (this.#drained !== null) return this.#drained;
    this.#drained = this.#drain(graceMs, noticeMs);
    for (const response of this.#open.keys())
      if (!response.headersSent) response.setHeader('connection', 'close');
    return this.#drained;
  }

  async #drain(graceMs: number, noticeMs: number): Promise<boolean> {
    if (noticeMs > 0) await sleep(noticeMs);
    const deadline = performance.now() + graceMs;
    // That of node:http would close kept connections at once, under the hands of clients that are writing.
    const closed = new Promise<void>((resolve) =>
      NetServer.prototype.close.call(this.server, () => resolve()),
    );
    const upgraded = Promise.all(this.#upgrades.map((upgrade) => upgrade.drain(graceMs)));
    const leaving = (): Promise<unknown> => {
      const ms = Math.max(0, Math.min(LEAVING_MS, deadline - performance.now()));
      return Promise.race([closed, sleep(ms, undefined, { ref: false })]);
    };
    // A kept connection that is in use gets its next answer meanwhile, and is closed by it.
    await leaving();
    // Not before the last answer has left: node:http takes a connection for idle that is still being written to.
    if (await this.#idle(graceMs)) this.#closeIdle();
    await leaving();
    const finished = await this.#idle(Math.max(0, deadline - performance.now()));
    // Also those that never sent a request: node:http does not count them as idle and would wait for them.
    this.server.closeAllConnections();
    this.#front?.closeAll();
    this.#tls?.destroy();
    const left = await upgraded;
    await closed;
    this.server.close();
    if (this.#overdueTimer !== null) clearInterval(this.#overdueTimer);
    return finished && left.every((willingly) => willingly);
  }

  #closeIdle(): void {
    this.server.closeIdleConnections();
    this.#front?.closeIdle();
  }

  #idle(graceMs: number): Promise<boolean> {
    if (this.inFlight === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), graceMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  /** A connection, before anything of it is read. */
  #enter(socket: Socket): void {
    if (!this.#caps.take(socket)) return;
    if (this.#tls !== null) this.#tls.take(socket);
    else if (this.#front !== null) this.#front.take(socket);
    else this.#speak(socket);
  }

  takeOver(socket: Socket, bytes: Buffer, isBehindAnswer: boolean): void {
    (socket as Connection)[behindAnswer] = isBehindAnswer;
    this.#speak(socket);
    socket.unshift(bytes);
    socket.resume();
  }

  requestEnded(): void {
    if (this.inFlight === 0) this.#onIdle?.();
  }

  #note(request: IncomingMessage, response: ServerResponse): void {
    const connection = request.socket as Connection;
    connection[underWay] ??= new Set();
    const ofConnection = connection[underWay];
    ofConnection.add(response);
    this.#open.set(response, performance.now());
    response.on('close', () => {
      ofConnection.delete(response);
      this.#open.delete(response);
      this.requestEnded();
    });
  }

  /** Ends requests whose bodies have been on their way for too long. */
  #cutOverdue(): void {
    const before = performance.now() - this.#options.requestTimeoutMs;
    for (const [response, startedAt] of this.#open) {
      const { req } = response;
      if (startedAt > before || req.complete || keepsOwnTime(req)) continue;
      // Once for each: others on its connection may still be waiting for their answers.
      this.#open.set(response, Number.POSITIVE_INFINITY);
      this.#refuseClient({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, req.socket);
    }
  }

  /** @param understood - false when the request expects what nobody here knows. */
  #take(request: IncomingMessage, response: ServerResponse, understood = true): void {
    // The parser reads on while a refusal leaves.
    if ((request.socket as Connection)[spoiled]) return;
    this.#note(request, response);
    if (this.draining) response.setHeader('connection', 'close');
    if (this.#strictTransport !== null) response.setHeader(STRICT_TRANSPORT, this.#strictTransport);
    const { path, query } = splitUrl(request.url ?? '/');
    const bodyOf = refusalOf(this.#refusals, path);
    if (this.inFlight > this.#options.requestsInFlightMax) {
      refuse(request, response, new Failure('OVERLOADED'), {}, bodyOf);
      return;
    }
    const fault = understood ? faultOfHead(request) : 'MALFORMED_HTTP';
    if (fault !== null) {
      (request.socket as Connection)[spoiled] = true;
      refuse(request, response, new Failure(fault), { connection: 'close' }, bodyOf);
      return;
    }
    const verbs = findVerbs(this.#routes, path, request.method ?? '');
    if (verbs === undefined) {
      const noPage = findNoPage(this.#routes, request, path);
      if (noPage !== undefined) this.#run(noPage, request, response, query, path);
      else refuse(request, response, noSuchPath(this.#routes), {}, bodyOf);
      return;
    }
    const handler =
      verbs.get(request.method ?? '') ?? (request.method === 'HEAD' ? verbs.get('GET') : undefined);
    if (handler === undefined) {
      const allow = [...verbs.keys()].join(', ');
      refuse(request, response, new Failure('METHOD_NOT_ALLOWED'), { allow }, bodyOf);
      return;
    }
    this.#run(handler, request, response, query, path);
  }

  /** What leaves HTTP: under the same limits as requests, and refused as they are. */
  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    // Those of node:http were taken off, and whoever takes over the connection brings its own.
    socket.on('error', ignore);
    if (((socket as Connection)[underWay]?.size ?? 0) > 0) {
      // Answers are still to come in HTTP, so nothing else may be spoken here.
      if (!finishAnswers(socket)) socket.destroy();
      return;
    }
    if (isBehindAnswer(socket)) {
      // As above, but that the answer was given.
      socket.destroySoon();
      return;
    }
    const { path, query } = splitUrl(request.url ?? '/');
    const upgrade = this.#upgrades.find((one) => one.path === path);
    if (upgrade === undefined || this.draining || faultOfHead(request) !== null) {
      const code = this.draining ? 'DRAINING' : 'MALFORMED_HTTP';
      const isLost = !this.draining && upgrade === undefined;
      const failure = isLost ? noSuchPath(this.#routes) : new Failure(code);
      refuseSocket(socket, failure, {}, refusalOf(this.#refusals, path));
      return;
    }
    try {
      upgrade.accept(request, socket, head, query);
    } catch (thrown) {
      this.#log.error({ err: thrown }, 'an upgrade went wrong');
      socket.destroy();
    }
  }

  #run(handler: HttpHandler, ...[request, response, query, path]: Parameters<HttpHandler>): void {
    const fail = (thrown: unknown): void => {
      this.#log.error({ err: thrown }, 'a handler went wrong');
      if (response.headersSent) response.destroy();
      else refuse(request, response, new Failure('INTERNAL'), {}, refusalOf(this.#refusals, path));
    };
    try {
      handler(request, response, query, path)?.catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  }

  /**
   * What comes of bytes that are no request, or of half a request that was waited for long enough. Answers that are
   * still to come for whole requests come first, whatever follows them: a call that was executed must not look as
   * if it had been refused. Then, or behind half an answer, the connection is closed without a word.
   */
  #refuseClient(fault: ClientFault, socket: Connection): void {
    if (finishAnswers(socket)) return;
    const responses = [...(socket[underWay] ?? [])];
    if (isBehindAnswer(socket) || responses.some(({ headersSent }) => headersSent)) {
      // What was written leaves first: it may be a refusal that says why.
      (socket as Socket).destroySoon();
      return;
    }
    const url = responses.at(-1)?.req.url ?? targetIn(fault.rawPacket);
    const bodyOf = refusalOf(this.#refusals, url === null ? null : splitUrl(url).path);
    refuseSocket(socket as Socket, new Failure(codeOf(fault)), {}, bodyOf);
  }
}

const ignore = (): void => {};

/** The only protocol that is spoken over TLS. Source: RFC 7301 §6. */
const ALPN = 'http/1.1';
const STRICT_TRANSPORT = 'strict-transport-security';

/** Puts `enter` before what node:http does with a connection. @returns what it does. */
function takeOver(server: Server, enter: (socket: Socket) => void): (socket: Socket) => void {
  const [own] = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', enter);
  return (socket) => own?.call(server, socket);
}

/** Whether nothing was asked of a connection yet but what came while a door in front answered what stood before it. */
const isBehindAnswer = (socket: Connection): boolean =>
  socket[underWay] === undefined && socket[behindAnswer] === true;

/** Closes a connection once its whole requests are answered. @returns whether there are any. */
function finishAnswers(socket: Connection): boolean {
  const last = [...(socket[underWay] ?? [])].findLast(({ req }) => req.complete);
  if (last === undefined || socket.destroyed) return false;
  if (!last.headersSent) last.setHeader('connection', 'close');
  last.once('finish', () => (socket as Socket).destroySoon());
  return true;
}
