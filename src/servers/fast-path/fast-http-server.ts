import type { Socket } from 'node:net';
import type { Logger } from '../../base/log.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { FallbackListener, Listener } from '../http/fallback-listener.ts';
import { OpenConnections } from '../open-connections.ts';
import type { RpcCalls } from '../rpc/calls.ts';
import { CoarseClock } from './coarse-clock.ts';
import { CredentialCache } from './credential-cache.ts';
import { FastConnection } from './fast-connection.ts';
import { FastHead } from './fast-head.ts';
import type { FastHttpContext, OpenConnection } from './fast-http-context.ts';
import { type FastHttpOptions, fastHttpOptions } from './fast-http-options.ts';
import { FastSocket } from './fast-socket.ts';
import { HostCheck } from './host-check.ts';
import { LastValueCache } from './last-value-cache.ts';
import { ResponseWriter } from './response-writer.ts';

/** How often connections are looked for that are overdue, as a share of the shortest timeout, and at least. */
const TIMEOUT_CHECKS = 4;
const SWEEP_MAX_MS = 1_000;

/** The open connections. One timer looks after all of them. */
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
 * The fast way for JSON-RPC over HTTP: ordinary calls are read and answered on the bare connection, since node:http
 * costs more than all the rest of their way. Connections with anything else on them go to node:http, at the first
 * message of that kind and for good; what is refused of bytes that are no request, is refused there.
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

  /** Connections that are open here. */
  get connections(): number {
    return this.#connections.size;
  }

  get fallback(): FallbackListener {
    if (this.#fallback === null) throw new Error('the door stands before nothing');
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
