import { ByteBudget } from '../base/cache/byte-budget.ts';
import type { Network } from '../protocol/call.ts';
import type { NodeRequest, PendingRequest } from './exchange.ts';
import { NodeHealth } from './health/node-health.ts';
import { ConnectionPool } from './http-client/connection-pool.ts';
import { requestHead, serverNameOf } from './http-client/request-head.ts';
import { Dialer, originOf } from './http-client/socket.ts';
import type { UpstreamLimits } from './limits.ts';
import { requestBytes } from './request-body.ts';
import { RequestBudget } from './request-budget.ts';
import { revealsOneOf, secretsOf } from './secrets.ts';

/** A JSON-RPC node as the configuration names it. */
export type NodeConfig = Readonly<{
  /** What logs, metrics and status pages call it. Public. */
  name: string;
  /** http or https. Its path, query and user part may hold the provider's key: never shown. */
  url: string;
  /** Where its PubSub listens, ws or wss; may hold the provider's key too. Absent or null: it has none. */
  ws?: string | null;
  /** Where its Geyser gRPC listens, http or https. Absent or null: it has none. */
  grpc?: string | null;
  /** Sent with every request; may hold secrets: never shown. */
  headers?: Readonly<Record<string, string>>;
  /** What it may be asked a second, polls included. Absent or null: as much as there is to ask. */
  requestsPerSecond?: number | null;
  /** How many of them may come at once. Absent or null: those of a second. */
  requestsBurst?: number | null;
  /** Reads that may be sent over one connection before the first is answered. Absent: 1. */
  pipelining?: number;
}>;

/** What is no escape stands for itself: an address that was kept before it was checked is no reason not to start. */
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

/** What answers of nodes are gathered in: room for one of the longest at least. */
export const createResponseBudget = (limits: UpstreamLimits): ByteBudget =>
  new ByteBudget(() => Math.max(limits.responseBufferMaxBytes, limits.responseMaxBytes));

/** What a node may be asked a second; without a burst of its own as much at once as in a second. */
function budgetOf({ requestsPerSecond, requestsBurst }: NodeConfig): RequestBudget | null {
  if (requestsPerSecond == null) return null;
  return new RequestBudget(requestsPerSecond, requestsBurst ?? requestsPerSecond);
}

/**
 * One JSON-RPC node: its connections, and what is known about it. All times are `performance.now()`.
 */
export class UpstreamNode extends NodeHealth {
  readonly #limits: UpstreamLimits;
  readonly #connections: ConnectionPool;
  readonly #head: Buffer;
  readonly #secrets: readonly Buffer[];

  /**
   * @param limits - read at each use: they may change while it is asked.
   * @param answers - what answers are gathered in; absent: in room of its own.
   */
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
    const dialer = new Dialer(originOf(url, serverNameOf(url, headers)));
    this.#connections = new ConnectionPool(dialer, limits, responseBudget, config.pipelining);
  }

  /** The longest answer that it may give. */
  get answerMaxBytes(): number {
    return this.#limits.responseMaxBytes;
  }

  /**
   * Sends one request.
   * @param deadline - when it is given up, as `performance.now()`.
   * @param now - what that clock showed in this turn of the event loop.
   */
  send(request: NodeRequest, deadline: number, now: number): PendingRequest {
    const { id, method, params } = request;
    return this.#connections.send(requestBytes(this.#head, id, method, params), deadline, request, now);
  }

  /** Whether the bytes name this node's host or a key of its, escaped or not: such an error text is not passed on. */
  leaksSecret(bytes: Buffer): boolean {
    return revealsOneOf(this.#secrets, bytes);
  }

  /** Closes every connection at once; what is under way fails. */
  close(): void {
    this.#connections.close();
  }
}
