import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Server, WebSocketServer } from 'ws';
import type { Logger } from '../../base/log.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Caller } from '../../protocol/request-handler.ts';
import type { Session, WebSocketHandler } from '../../streams/session.ts';
import { callerOf, networkRejection } from '../caller.ts';
import { OpenConnections } from '../connection-lifecycle.ts';
import { rejectRequest, rejectSocket } from '../http/encode.ts';
import type { HttpHandler, HttpRoutes, HttpUpgrade } from '../http/routes.ts';
import { rpcServerOptions } from '../rpc/options.ts';
import { CallConcurrencyLimit } from './call-queue.ts';
import { ClientSocket, Connection, type ConnectionContext } from './connection.ts';
import { CREDENTIAL_PROTOCOL, credentialInProtocols, handshakeFault, upgradeHeaders } from './decode.ts';
import { type WebSocketOptions, webSocketOptions } from './options.ts';

/** Maximum fragments per message; each may keep its whole read buffer alive. */
const FRAGMENTS_MAX = 128;
/** Minimum average chunk size; a message in smaller chunks is rejected. */
const CHUNK_MIN_BYTES = 512;
const CHUNKS_MIN = 128;

export class WebSocketUpgrade implements HttpUpgrade {
  readonly protocol = 'websocket';
  readonly paths: readonly string[];
  readonly #handler: WebSocketHandler;
  readonly #options: WebSocketOptions;
  readonly #connections: Connections;
  readonly #context: ConnectionContext;
  /** Receivers by message size limit, which depends on the plan. */
  readonly #receivers = new Map<number, Receiver>();

  constructor(handler: WebSocketHandler, log: Logger, options: Partial<WebSocketOptions> = {}) {
    this.#handler = handler;
    this.#options = withDefaults(webSocketOptions, options);
    // web3.js derives the WebSocket URL from the JSON-RPC URL and keeps the path.
    this.paths = [this.#options.path, rpcServerOptions.path];
    this.#connections = new Connections(this.#options);
    this.#context = {
      options: this.#options,
      callLimit: new CallConcurrencyLimit(this.#options.allCallsInFlightMax),
      log,
      onClose: (connection) => this.#connections.delete(connection),
    };
  }

  get size(): number {
    return this.#connections.size;
  }

  get routes(): HttpRoutes {
    const { upgrade } = upgradeHeaders;
    const get: HttpHandler = (request, response, query) => {
      const failure = this.#explain(request, query);
      rejectRequest(response, failure, failure.code === 'UPGRADE_REQUIRED' ? { upgrade } : {});
    };
    return new Map([[this.#options.path, new Map([['GET', get]])]]);
  }

  accept(request: IncomingMessage, socket: Socket, head: Buffer, query: string): void {
    const fault = handshakeFault(request);
    if (fault !== null) {
      rejectSocket(socket, fault, fault.code === 'UPGRADE_REQUIRED' ? upgradeHeaders : {});
      return;
    }
    let connection: Connection | null = null;
    try {
      if (this.size >= this.#options.connectionsMax) throw new Failure('OVERLOADED');
      const onEnd = (failure: Failure): void => connection?.end(failure);
      const caller = callerOf(request, socket, query, this.#options.proxies);
      const credential = caller.credential ?? credentialInProtocols(request);
      const session = this.#connect({ ...caller, credential }, onEnd);
      connection = this.#completeHandshake(request, socket, head, session);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      rejectSocket(socket, thrown);
    }
  }

  /** Accepts only the configured network, because all subscriptions use its nodes. @throws Failure */
  #connect(caller: Caller, onEnd: (failure: Failure) => void): Session {
    const { network } = this.#options;
    const session = this.#handler.connect(caller, 'rpc', network, onEnd);
    const rejection = networkRejection(caller.network, [network]);
    if (rejection === null) return session;
    session.close();
    throw rejection;
  }

  drain(graceMs: number): Promise<boolean> {
    return this.#connections.drain(graceMs);
  }

  /** Returns why a handshake would be rejected (browsers do not show it), or UPGRADE_REQUIRED if it would succeed. */
  #explain(request: IncomingMessage, query: string): Failure {
    try {
      const caller = callerOf(request, request.socket, query, this.#options.proxies);
      this.#connect(caller, () => {}).close();
      return new Failure('UPGRADE_REQUIRED');
    } catch (thrown) {
      if (thrown instanceof Failure) return thrown;
      throw thrown;
    }
  }

  #completeHandshake(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
    session: Session,
  ): Connection | null {
    // Browsers need one of their subprotocols accepted. Others are ignored, even in a malformed header.
    if (credentialInProtocols(request) === null) delete request.headers['sec-websocket-protocol'];
    else request.headers['sec-websocket-protocol'] = CREDENTIAL_PROTOCOL;
    let connection: Connection | null = null;
    this.#receiver(session.limits.messageMaxBytes).handleUpgrade(request, socket, head, (client) => {
      connection = new Connection(client, socket, session, this.#context);
      this.#connections.add(connection);
    });
    if (connection === null) session.close();
    return connection;
  }

  #receiver(messageMaxBytes: number): Receiver {
    const existing = this.#receivers.get(messageMaxBytes);
    if (existing !== undefined) return existing;
    const created = createReceiver(messageMaxBytes, this.#options.closeTimeoutMs);
    this.#receivers.set(messageMaxBytes, created);
    return created;
  }
}

type Receiver = Server<typeof ClientSocket>;

function createReceiver(messageMaxBytes: number, closeTimeoutMs: number): Receiver {
  const options = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    autoPong: false,
    WebSocket: ClientSocket,
    maxPayload: messageMaxBytes,
    maxFragments: FRAGMENTS_MAX,
    maxBufferedChunks: Math.max(CHUNKS_MIN, Math.ceil(messageMaxBytes / CHUNK_MIN_BYTES)),
    closeTimeout: closeTimeoutMs,
  };
  return new WebSocketServer(options);
}

/** How long before the end of a drain the remaining connections get a close frame. */
const FINAL_NOTICE_MS = 300;

export class Connections extends OpenConnections<Connection> {
  readonly #queuesMaxBytes: number;

  constructor({ checkIntervalMs, queuesMaxBytes }: WebSocketOptions) {
    super(checkIntervalMs);
    this.#queuesMaxBytes = queuesMaxBytes;
  }

  /** Ends connections once their calls are answered. @returns false if any had to be terminated. */
  async drain(graceMs: number): Promise<boolean> {
    for (const connection of this.open) connection.drain();
    if (await this.waitUntilEmpty(Math.max(0, graceMs - FINAL_NOTICE_MS))) return true;
    for (const connection of this.open) connection.end(new Failure('DRAINING'));
    if (await this.waitUntilEmpty(Math.min(graceMs, FINAL_NOTICE_MS))) return true;
    const all = this.waitUntilEmpty();
    for (const connection of this.open) connection.terminate();
    await all;
    return false;
  }

  protected sweep(nowMs: number): void {
    let bufferedBytes = 0;
    for (const connection of this.open) {
      connection.tick(nowMs);
      bufferedBytes += connection.bufferedBytes;
    }
    if (bufferedBytes > this.#queuesMaxBytes) this.#freeMemory(bufferedBytes);
  }

  #freeMemory(bufferedBytes: number): void {
    let remainingBytes = bufferedBytes;
    for (const connection of [...this.open].sort(compareForCut)) {
      if (remainingBytes <= this.#queuesMaxBytes) return;
      remainingBytes -= connection.bufferedBytes;
      connection.disconnectSlowConsumer({ bytes: connection.queuedBytes });
    }
  }
}

const compareForCut = (a: Connection, b: Connection): number =>
  Number(a.isOpen) - Number(b.isOpen) || b.bufferedBytes - a.bufferedBytes;
