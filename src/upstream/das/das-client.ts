import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import type { Call, Network } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { unknownMethod } from '../../protocol/methods.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import { type NodeError, NodeRefusal, parseNodeError } from '../../protocol/rest/node-refusal.ts';
import { defaultUpstreamLimits } from '../limits.ts';
import { type NodeConfig, UpstreamNode } from '../node.ts';
import { type Outcome, outcomeText } from '../outcome.ts';
import { attempt } from '../retry/attempt.ts';

/** A server of the Digital Asset Standard API. */
export type DasServer = Pick<NodeConfig, 'name' | 'url' | 'headers'> & Readonly<{ network: Network }>;

/** Times in milliseconds, sizes in bytes. */
export type DasLimits = Readonly<{
  /** How long one question may take, at all servers together. */
  timeoutMs: number;
  /** How long one server may take when another may follow it. */
  tryTimeoutMs: number;
  connectTimeoutMs: number;
  answerMaxBytes: number;
  /** Open connections per server. */
  connectionsMax: number;
  /** Questions under way or queued per server; above it the server is passed over. */
  inFlightMax: number;
}>;

/** Limits that suit pages of a thousand assets. */
export const dasLimits: DasLimits = {
  timeoutMs: 15_000,
  tryTimeoutMs: 8_000,
  connectTimeoutMs: 3_000,
  answerMaxBytes: 16 * 1024 * 1024,
  connectionsMax: 32,
  inFlightMax: 256,
};

/** What one server's outcome means: an answer, a refusal that another server may not share, or no answer. */
type ServerResult =
  | Readonly<{ kind: 'result'; result: JsonValue }>
  | Readonly<{ kind: 'refusal'; error: NodeError; isFinal: boolean }>
  | Readonly<{ kind: 'none' }>;

const NONE = { kind: 'none' } as const;

function parseBody(body: Buffer): JsonValue | undefined {
  try {
    return parseJson(body.toString('utf8'));
  } catch {
    // A large answer is known by its ends only; what lies between them need not be JSON.
    return undefined;
  }
}

function parseOutcome(outcome: Outcome): ServerResult {
  if (outcome.kind !== 'answer') return NONE;
  const { body, errorCode } = outcome.response;
  const value = parseBody(body);
  if (value === undefined) return NONE;
  if (errorCode === 0) return { kind: 'result', result: value };
  const error = parseNodeError(value, errorCode);
  if (error === null) return NONE;
  return { kind: 'refusal', error, isFinal: nodeErrorRow(errorCode).rule === 'believe' };
}

/** What is asked of the servers of a network, one after the other. */
export class DasClient {
  readonly #servers: readonly UpstreamNode[];
  readonly #limits: DasLimits;
  readonly #log: Logger | null;

  /** @param servers - those of a network are asked in this order. */
  constructor(servers: readonly DasServer[], limits: Partial<DasLimits> = {}, log: Logger | null = null) {
    this.#limits = { ...dasLimits, ...limits };
    this.#log = log;
    const nodeLimits = { ...defaultUpstreamLimits, ...this.#limits };
    this.#servers = servers.map((server) => new UpstreamNode(server, server.network, nodeLimits));
  }

  /** Whether a server is configured for the network. */
  has(network: Network): boolean {
    return this.#servers.some((server) => server.network === network);
  }

  /**
   * Puts the question to the servers of the network in their order, until one answers. DAS only reads, so that asking
   * twice does no harm.
   * @returns the `result`, its integers exact.
   * @throws NodeRefusal with a server's own error when no server answers better; Failure UPSTREAM_UNAVAILABLE when none
   * answers, CLIENT_GONE when the signal came first.
   */
  async request(
    network: Network,
    method: string,
    params: { readonly [name: string]: WritableJson },
    signal: AbortSignal,
  ): Promise<JsonValue> {
    const call = { network, method, row: unknownMethod, params: Buffer.from(writeJson(params)) };
    const deadline = performance.now() + this.#limits.timeoutMs;
    let refusal: NodeError | null = null;
    for (const server of this.#availableServers(network)) {
      if (signal.aborted) throw new Failure('CLIENT_GONE');
      const remainingMs = deadline - performance.now();
      if (remainingMs <= 0) break;
      const serverResult = await this.#requestFrom(
        server,
        call,
        Math.min(remainingMs, this.#limits.tryTimeoutMs),
        signal,
      );
      if (serverResult.kind === 'result') return serverResult.result;
      if (serverResult.kind === 'none') continue;
      refusal = serverResult.error;
      if (serverResult.isFinal) break;
    }
    if (signal.aborted) throw new Failure('CLIENT_GONE');
    throw refusal === null ? new Failure('UPSTREAM_UNAVAILABLE') : new NodeRefusal(refusal);
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    for (const server of this.#servers) server.close();
  }

  /** Those that nothing speaks against, in their order; where something does against all, all that take questions. */
  #availableServers(network: Network): UpstreamNode[] {
    const now = performance.now();
    const available = this.#servers.filter(
      (server) => server.network === network && !server.isFull() && !server.isThrottled(now),
    );
    const healthy = available.filter((server) => server.isUsable(now));
    return healthy.length > 0 ? healthy : available;
  }

  async #requestFrom(
    server: UpstreamNode,
    call: Call,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ServerResult> {
    const { outcome, elapsedMs } = await attempt(server, call, timeoutMs, signal);
    const serverResult = parseOutcome(outcome);
    const isBroken = outcome.kind === 'answer' && serverResult.kind === 'none';
    server.recordOutcome(isBroken ? { kind: 'garbage' } : outcome, elapsedMs);
    if (outcome.kind !== 'answer' && outcome.kind !== 'aborted') {
      const logFields = { server: server.name, network: server.network, method: call.method };
      this.#log?.warn({ ...logFields, outcome: outcomeText(outcome) }, 'a DAS server gave no answer');
    }
    return serverResult;
  }
}
