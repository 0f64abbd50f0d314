import { ByteBudget } from '../base/cache/byte-budget.ts';
import type { Network } from '../protocol/call.ts';
import type { NodeRequest, PendingRequest } from './exchange.ts';
import type { AccountIndex } from './health/node-capabilities.ts';
import { NodeHealth } from './health/node-health.ts';
import { Dialer } from './http-client/connection.ts';
import { ConnectionPool } from './http-client/connection-pool.ts';
import type { PipeliningOption } from './http-client/pipelining.ts';
import { requestHead, serverNameOf } from './http-client/request-head.ts';
import { PRIORITY_MAX, type UpstreamLimits } from './limits.ts';
import { requestBytes } from './request-body.ts';
import { RequestBudget } from './request-budget.ts';
import { revealsOneOf, secretsOf } from './secrets.ts';

export type NodeConfig = Readonly<{
  /** Shown in logs, metrics and status pages. */
  name: string;
  /** Never shown, because it may contain the provider's key. */
  url: string;
  /** PubSub URL; may contain a key. */
  ws?: string | null;
  /** Geyser gRPC URL. */
  grpc?: string | null;
  /** Sent with every request. Never shown, because they may contain secrets. */
  headers?: Readonly<Record<string, string>>;
  /** Limit on all requests, including polls. Absent or null: unlimited. */
  requestsPerSecond?: number | null;
  /** Absent or null: same as `requestsPerSecond`. */
  requestsBurst?: number | null;
  /** Maximum pipelined reads per connection. Default: `auto`. */
  pipelining?: PipeliningOption;
  /** 1 to `PRIORITY_MAX`; nodes of a higher number serve only what no node of a lower number can. Default: 1. */
  priority?: number;
  /** Share of calls among nodes of the same priority. Default: 1. */
  weight?: number;
  /** Methods that only this node and others with the same pattern serve. Absent or null: every other method. */
  methods?: readonly string[] | null;
  /** Whether the node has the whole history. Absent or null: learned. */
  archive?: boolean | null;
  /** All account indexes of the node. Absent or null: learned. */
  indexes?: readonly AccountIndex[] | null;
  /** Whether the node is in another region than this gateway. */
  isRemote?: boolean;
}>;

export type NodesByNetwork = Readonly<Partial<Record<Network, readonly NodeConfig[]>>>;

/** Keeps invalid escapes, so that a URL that was stored without validation does not prevent startup. */
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

export const hasSubscriptionFeed = ({ ws, grpc }: Pick<NodeConfig, 'ws' | 'grpc'>): boolean =>
  typeof ws === 'string' || typeof grpc === 'string';

/** Options may be absent: nodes added under an older version have no priority. */
export const priorityOf = ({ priority = 1 }: Pick<NodeConfig, 'priority'>): number => priority;
/** Orders nodes by priority, and those of one priority by region: nodes of other regions come last. */
export const tierOf = (config: Pick<NodeConfig, 'priority' | 'isRemote'>): number =>
  2 * priorityOf(config) + (config.isRemote === true ? 1 : 0);
export const TIER_MAX = 2 * PRIORITY_MAX + 1;
export const weightOf = ({ weight = 1 }: Pick<NodeConfig, 'weight'>): number => weight;

/** Large enough for at least one response of the maximum size. */
export const createResponseBudget = (limits: UpstreamLimits): ByteBudget =>
  new ByteBudget(() => Math.max(limits.responseBufferMaxBytes, limits.responseMaxBytes));

function budgetOf({ requestsPerSecond, requestsBurst }: NodeConfig): RequestBudget | null {
  if (requestsPerSecond == null) return null;
  return new RequestBudget(requestsPerSecond, requestsBurst ?? requestsPerSecond);
}

/** A JSON-RPC node with its connections and health. Times are on the `performance.now()` clock. */
export class UpstreamNode extends NodeHealth {
  readonly priority: number;
  readonly tier: number;
  readonly weight: number;
  readonly methods: readonly string[] | null;
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
    const { name, methods = null } = config;
    super({ name, network, budget: budgetOf(config), declared: config }, limits);
    const url = new URL(config.url);
    this.priority = priorityOf(config);
    this.tier = tierOf(config);
    this.weight = weightOf(config);
    this.methods = methods;
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

  /** @param deadline - on the `performance.now()` clock, like `now`. */
  send(request: NodeRequest, deadline: number, now: number): PendingRequest {
    const { id, method, params } = request;
    return this.#connections.send(requestBytes(this.#head, id, method, params), deadline, request, now);
  }

  /** Whether an error contains the node's host or a key. Such errors are withheld from clients. */
  leaksSecret(bytes: Buffer): boolean {
    return revealsOneOf(this.#secrets, bytes);
  }

  /** Requests in flight fail. */
  close(): void {
    this.#connections.close();
  }
}
