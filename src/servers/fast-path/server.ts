import type { Socket } from 'node:net';
import type { Logger } from '../../base/log.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import { OpenConnections } from '../connection-lifecycle.ts';
import type { FallbackListener, Listener } from '../http/routes.ts';
import type { RpcCalls } from '../rpc/calls.ts';
import { CredentialCache, HostCheck, LastValueCache } from './caller-reader.ts';
import { FastConnection } from './connection.ts';
import {
  CoarseClock,
  type FastHttpContext,
  type FastHttpOptions,
  fastHttpOptions,
  type OpenConnection,
} from './context.ts';
import { FastHead } from './decode.ts';
import { ResponseWriter } from './encode.ts';
import { FastSocket } from './socket.ts';

const TIMEOUT_CHECKS = 4;
const SWEEP_MAX_MS = 1_000;

class FastConnections extends OpenConnections<OpenConnection> {
  readonly #clock: CoarseClock;

  constructor(clock: CoarseClock) {
    super(clock.tickMs);
    this.#clock = clock;
  }

  protected sweep(): void {
    const tick = ++this.#clock.tick;
    for (const connection of this.open) if (connection.dueAt <= tick) connection.onTimeout();
  }

  closeIdle(): void {
    for (const connection of this.open) if (connection.isIdle) connection.destroy();
  }

  closeAll(): void {
    for (const connection of this.open) connection.destroy();
  }
}

/**
 * HTTP server for JSON-RPC calls on bare sockets: node:http costs more per request than everything else together.
 * At the first request of any other kind the connection moves to node:http for good.
 */
export class FastHttpServer implements Listener, FastHttpContext {
  readonly options: FastHttpOptions;
  readonly calls: RpcCalls;
  readonly log: Logger;
  readonly clock: CoarseClock;
  readonly head: FastHead;
  readonly hostCheck = new HostCheck();
  readonly credentials = new CredentialCache();
  readonly contentTypes = new LastValueCache();
  readonly writer: ResponseWriter;
  readonly #connections: FastConnections;
  readonly #pieces: Buffer[] = [];
  #fallback: FallbackListener | null = null;
  #inFlight = 0;

  constructor(calls: RpcCalls, log: Logger, options: Partial<FastHttpOptions> = {}) {
    this.options = withDefaults(fastHttpOptions, options);
    this.calls = calls;
    this.log = log;
    this.clock = new CoarseClock(tickOf(this.options));
    const { headMaxBytes, headersMaxBytes } = this.options;
    this.head = new FastHead(calls.options.path, Math.min(headMaxBytes, headersMaxBytes));
    this.writer = new ResponseWriter(this.options.keepAliveTimeoutMs);
    this.#connections = new FastConnections(this.clock);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get connections(): number {
    return this.#connections.size;
  }

  get fallback(): FallbackListener {
    if (this.#fallback === null) throw new Error('FastHttpServer has no fallback: call setFallback first');
    return this.#fallback;
  }

  setFallback(fallback: FallbackListener): void {
    this.#fallback = fallback;
  }

  accept(socket: Socket): void {
    const fastSocket = new FastSocket(socket, this.options.sharesReads);
    const connection = new FastConnection(this, fastSocket);
    this.#connections.add(connection);
    fastSocket.listen(connection);
  }

  pieces(): Buffer[] {
    this.#pieces.length = 0;
    return this.#pieces;
  }

  onRequestStart(): void {
    this.#inFlight += 1;
  }

  onRequestEnd(): void {
    this.#inFlight -= 1;
    this.fallback.onRequestEnd();
  }

  onConnectionEnd(connection: OpenConnection): void {
    this.#connections.delete(connection);
  }

  closeIdle(): void {
    this.#connections.closeIdle();
  }

  closeAll(): void {
    this.#connections.closeAll();
  }
}

function tickOf(options: FastHttpOptions): number {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, idleTimeoutMs } = options;
  const shortest = Math.min(headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, idleTimeoutMs);
  return Math.min(SWEEP_MAX_MS, Math.ceil(shortest / TIMEOUT_CHECKS));
}
