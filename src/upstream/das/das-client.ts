import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import type { Network } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { unknownMethod } from '../../protocol/methods.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import { type NodeError, NodeRejection, parseNodeError } from '../../protocol/rest/node-rejection.ts';
import { selectAvailable } from '../balancing/load-balancer.ts';
import { defaultUpstreamLimits } from '../limits.ts';
import { type NodeConfig, UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { attempt } from '../retry/attempt.ts';

/** Server for the Digital Asset Standard (DAS) API. */
export type DasServer = Pick<NodeConfig, 'name' | 'url' | 'headers'> & Readonly<{ network: Network }>;

export const dasLimits = {
  /** Per request, across all servers. */
  timeoutMs: 15_000,
  /** Per attempt; below `timeoutMs`, so that another server can be tried. */
  tryTimeoutMs: 8_000,
  connectTimeoutMs: 3_000,
  responseMaxBytes: 16 * 1024 * 1024,
  /** Per server. */
  connectionsMax: 32,
  /** Requests in flight or queued per server. */
  inFlightMax: 256,
};

export type DasLimits = Readonly<typeof dasLimits>;

type ServerResult =
  | Readonly<{ kind: 'result'; result: JsonValue }>
  | Readonly<{ kind: 'rejection'; error: NodeError; isFinal: boolean }>
  | Readonly<{ kind: 'none' }>;

const NONE = { kind: 'none' } as const;

function parseBody(body: Buffer): JsonValue | undefined {
  try {
    return parseJson(body.toString('utf8'));
  } catch {
    // A body that cannot be parsed counts as no response.
    return undefined;
  }
}

function parseOutcome(outcome: Outcome): ServerResult {
  if (outcome.kind !== 'response') return NONE;
  const { body, errorCode } = outcome.response;
  const value = parseBody(body);
  if (value === undefined) return NONE;
  if (errorCode === 0) return { kind: 'result', result: value };
  const error = parseNodeError(value, errorCode);
  if (error === null) return NONE;
  return { kind: 'rejection', error, isFinal: nodeErrorRow(errorCode).rule === 'accept' };
}

export class DasClient {
  readonly #servers: readonly UpstreamNode[];
  readonly #limits: DasLimits;
  readonly #log: Logger | null;

  /** @param servers - in order of preference. */
  constructor(servers: readonly DasServer[], limits: Partial<DasLimits> = {}, log: Logger | null = null) {
    this.#limits = { ...dasLimits, ...limits };
    this.#log = log;
    const nodeLimits = { ...defaultUpstreamLimits, ...this.#limits };
    this.#servers = servers.map((server) => new UpstreamNode(server, server.network, nodeLimits));
  }

  has(network: Network): boolean {
    return this.#servers.some((server) => server.network === network);
  }

  /**
   * Tries the servers in order until one gives a final response, which is safe because DAS calls are read-only.
   * @returns the `result` of the response; integers are exact.
   * @throws NodeRejection for an error response; Failure UPSTREAM_UNAVAILABLE if no server responds, CLIENT_GONE if
   * aborted.
   */
  async request(
    network: Network,
    method: string,
    params: { readonly [name: string]: WritableJson },
    signal: AbortSignal,
  ): Promise<JsonValue> {
    const call = { network, method, row: unknownMethod, params: Buffer.from(writeJson(params)) };
    const deadline = performance.now() + this.#limits.timeoutMs;
    let rejection: NodeError | null = null;
    for (const server of this.#availableServers(network)) {
      if (signal.aborted) throw new Failure('CLIENT_GONE');
      const remainingMs = deadline - performance.now();
      if (remainingMs <= 0) break;
      const timeoutMs = Math.min(remainingMs, this.#limits.tryTimeoutMs);
      const { outcome, elapsedMs } = await attempt(server, call, timeoutMs, signal);
      const serverResult = parseOutcome(outcome);
      const isBroken = outcome.kind === 'response' && serverResult.kind === 'none';
      server.recordOutcome(isBroken ? { kind: 'invalid' } : outcome, elapsedMs);
      if (outcome.kind !== 'response' && outcome.kind !== 'aborted') {
        const logFields = { server: server.name, network: server.network, method: call.method };
        this.#log?.warn({ ...logFields, outcome: outcomeText(outcome) }, 'DAS request failed');
      }
      if (serverResult.kind === 'result') return serverResult.result;
      if (serverResult.kind === 'none') continue;
      rejection = serverResult.error;
      if (serverResult.isFinal) break;
    }
    if (signal.aborted) throw new Failure('CLIENT_GONE');
    throw rejection === null ? new Failure('UPSTREAM_UNAVAILABLE') : new NodeRejection(rejection);
  }

  async close(): Promise<void> {
    for (const server of this.#servers) server.close();
  }

  #availableServers(network: Network): readonly UpstreamNode[] {
    const servers = this.#servers.filter((server) => server.network === network);
    return selectAvailable(servers, (server, now) => server.isUsable(now));
  }
}
