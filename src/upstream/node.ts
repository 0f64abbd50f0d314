import { ByteBudget } from '../base/cache/byte-budget.ts';
import type { Network } from '../protocol/call.ts';
import type { NodeRequest, PendingRequest } from './exchange.ts';
import { NodeHealth } from './health/node-health.ts';
import { Dialer } from './http-client/connection.ts';
import { ConnectionPool } from './http-client/connection-pool.ts';
import { requestHead, serverNameOf } from './http-client/request-head.ts';
import type { UpstreamLimits } from './limits.ts';
import { requestBytes } from './request-body.ts';
import { RequestBudget } from './request-budget.ts';
import { revealsOneOf, secretsOf } from './secrets.ts';

export type NodeConfig = Readonly<{
  /** Shown in logs, metrics and status pages. */
  name: string;
  /** May contain the provider's key: never shown. */
  url: string;
  /** PubSub URL; may contain a key. */
  ws?: string | null;
  /** Geyser gRPC URL. */
  grpc?: string | null;
  /** Sent with every request; may contain secrets: never shown. */
  headers?: Readonly<Record<string, string>>;
  /** Including polls. Absent or null: unlimited. */
  requestsPerSecond?: number | null;
  /** Absent or null: one second's worth. */
  requestsBurst?: number | null;
  /** Pipelined reads per connection. Absent: 1. */
  pipelining?: number;
}>;

/** Invalid escapes are kept: addresses stored before they were checked must not prevent a start. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function basicAuthorization(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const text = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
}

/** Fits at least one of the largest responses. */
export const hasSubscriptionFeed = ({ ws, grpc }: Pick<NodeConfig, 'ws' | 'grpc'>): boolean =>
  typeof ws === 'string' || typeof grpc === 'string';

export const createResponseBudget = (limits: UpstreamLimits): ByteBudget =>
  new ByteBudget(() => Math.max(limits.responseBufferMaxBytes, limits.responseMaxBytes));

function budgetOf({ requestsPerSecond, requestsBurst }: NodeConfig): RequestBudget | null {
  if (requestsPerSecond == null) return null;
  return new RequestBudget(requestsPerSecond, requestsBurst ?? requestsPerSecond);
}

/** JSON-RPC node: its connections and health. Times are `performance.now()`. */
export class UpstreamNode extends NodeHealth {
  readonly #limits: UpstreamLimits;
  readonly #connections: ConnectionPool;
  readonly #head: Buffer;
  readonly #secrets: readonly Buffer[];

  constructor(
    config: NodeConfig,
    network: Network,
    limits: UpstreamLimits,
    responseBudget: ByteBudget = createResponseBudget(limits),
  ) {
    super({ name: config.name, network, budget: budgetOf(config) }, limits);
    const url = new URL(config.url);
    this.#limits = limits;
    const headers = { ...basicAuthorization(url), ...config.headers };
    this.#head = requestHead(url, headers);
    this.#secrets = secretsOf(url, config.headers ?? {});
    const dialer = new Dialer(url, serverNameOf(url, headers));
    this.#connections = new ConnectionPool(dialer, limits, responseBudget, config.pipelining);
  }

  get responseMaxBytes(): number {
    return this.#limits.responseMaxBytes;
  }

  /** @param deadline - `performance.now()`, as `now`. */
  send(request: NodeRequest, deadline: number, now: number): PendingRequest {
    const { id, method, params } = request;
    return this.#connections.send(requestBytes(this.#head, id, method, params), deadline, request, now);
  }

  /** Errors that contain the node's host or a key are withheld from clients. */
  leaksSecret(bytes: Buffer): boolean {
    return revealsOneOf(this.#secrets, bytes);
  }

  /** Requests in flight fail. */
  close(): void {
    this.#connections.close();
  }
}
