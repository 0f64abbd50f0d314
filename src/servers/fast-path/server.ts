import type { Socket } from 'node:net';
import type { Logger } from '../../base/log.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import { OpenConnections } from '../connection-lifecycle.ts';
import type { FallbackListener, Listener, ListenerLoad } from '../http/routes.ts';
import type { RpcCalls } from '../rpc/calls.ts';
import { FastConnection } from './connection.ts';
import { FastHttpContext, type FastHttpOptions, fastHttpOptions, type OpenConnection } from './context.ts';

const TIMEOUT_CHECKS = 4;
const SWEEP_MAX_MS = 1_000;

/**
 * Serves JSON-RPC calls on bare sockets, because node:http costs more per request than everything else combined. On
 * the first request that the fast path does not handle, the connection moves to node:http permanently.
 */
export class FastHttpServer extends OpenConnections<OpenConnection> implements Listener {
  readonly #context: FastHttpContext;
  readonly #sweepIntervalMs: number;

  constructor(calls: RpcCalls, log: Logger, options: Partial<FastHttpOptions> = {}) {
    const all = withDefaults(fastHttpOptions, options);
    const sweepIntervalMs = sweepIntervalOf(all);
    super(sweepIntervalMs);
    this.#sweepIntervalMs = sweepIntervalMs;
    this.#context = new FastHttpContext(calls, log, all, (connection) => this.delete(connection));
  }

  setFallback(fallback: FallbackListener, load: ListenerLoad): void {
    this.#context.fallback = fallback;
    this.#context.load = load;
  }

  accept(socket: Socket): void {
    // No sweep updates `now` while no connection is open.
    this.#context.now = performance.now();
    this.add(new FastConnection(this.#context, socket));
  }

  protected sweep(now: number): void {
    this.#context.now = now;
    // `dueAt` is computed from a time that may be one interval old.
    const due = now - this.#sweepIntervalMs;
    for (const connection of this.open) if (connection.dueAt <= due) connection.onTimeout();
  }

  closeIdle(): void {
    for (const connection of this.open) if (connection.isIdle) connection.destroy();
  }

  closeAll(): void {
    for (const connection of this.open) connection.destroy();
  }
}

function sweepIntervalOf(options: FastHttpOptions): number {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, idleTimeoutMs } = options;
  const shortest = Math.min(headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, idleTimeoutMs);
  return Math.min(SWEEP_MAX_MS, Math.ceil(shortest / TIMEOUT_CHECKS));
}
