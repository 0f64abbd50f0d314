import { Pool } from 'undici';
import type { Slot } from '../ledger/units.ts';
import type { Network } from '../protocol/call.ts';
import { nodeErrorRow } from '../protocol/node-errors.ts';
import { Circuit } from './circuit.ts';
import { type ExchangeSink, exchange, type Posted } from './exchange.ts';
import type { UpstreamLimits } from './limits.ts';
import type { Outcome } from './outcome.ts';
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
}>;

/** Weight of the newest sample in the moving average of a node's latency. */
const LATENCY_WEIGHT = 0.2;
/** So many polls in a row without an answer, and it is said to be failing. */
const FAILED_POLLS_MAX = 2;

/** What stands between a node and being asked first; `unknown` until it has answered once. */
export type NodeState = 'unknown' | 'healthy' | 'behind' | 'resting' | 'failing' | 'wrong-chain' | 'cordoned';

function basicAuthorization(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const text = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
}

/**
 * One JSON-RPC node: its connections, and what is known about it. All times are `performance.now()`.
 */
export class UpstreamNode {
  readonly name: string;
  readonly network: Network;
  readonly circuit: Circuit;
  /** Newest processed slot it reported; null while unknown. */
  slot: Slot | null = null;
  /** Set by the health watch: too far behind the others. */
  behind = false;
  lagSlots: bigint | null = null;
  /** Set by the health watch: it belongs to another chain than its network, so it is never asked for anybody. */
  wrongChain = false;
  /** What it said of its genesis; null when it did not. */
  genesisHash: string | null = null;
  /** It has answered the question for its genesis. */
  genesisAsked = false;
  /** When it last answered anything. */
  lastAnswerAt: number | null = null;
  /** Moving average; null before the first answer. */
  latencyMs: number | null = null;
  inFlight = 0;
  /** It asked to be left alone until then (429). */
  restingUntil = 0;
  /** Why the operator took it out of service; null while it is in service. Asked all the same when all others are out too. */
  cordon: string | null = null;
  /** It called itself unhealthy; passed over until then. */
  cordonedUntil = 0;
  #throttledInRow = 0;
  #failedPolls = 0;
  readonly #limits: UpstreamLimits;
  readonly #pool: Pool;
  readonly #path: string;
  readonly #headers: readonly string[];
  readonly #secrets: readonly Buffer[];

  constructor(config: NodeConfig, network: Network, limits: UpstreamLimits) {
    const url = new URL(config.url);
    this.name = config.name;
    this.network = network;
    this.circuit = new Circuit(limits);
    this.#limits = limits;
    this.#path = url.pathname + url.search;
    const headers = { ...basicAuthorization(url), ...config.headers, 'content-type': 'application/json' };
    this.#headers = Object.entries(headers).flat();
    this.#secrets = secretsOf(url, config.headers ?? {});
    this.#pool = new Pool(url.origin, {
      connections: limits.connectionsMax,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: limits.idleTimeoutMs,
      connectTimeout: limits.connectTimeoutMs,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** A request is on its way, until `ended`. */
  started(): void {
    this.inFlight++;
    this.circuit.started(performance.now());
  }

  ended(): void {
    this.inFlight--;
  }

  /** Sends one request. */
  post(body: Buffer, timeoutMs: number, sink: ExchangeSink): Posted {
    return exchange(
      this.#pool,
      {
        path: this.#path,
        headers: this.#headers,
        body,
        timeoutMs,
        answerMaxBytes: this.#limits.answerMaxBytes,
      },
      sink,
    );
  }

  /** Whether the bytes name this node's host or a key of its, escaped or not: such an error text is not passed on. */
  revealedBy(bytes: Buffer): boolean {
    return revealsOneOf(this.#secrets, bytes);
  }

  /** Nothing speaks against asking it. What is not known does not speak against it. */
  isGood(now: number): boolean {
    if (this.behind || now < this.cordonedUntil || this.#failedPolls >= FAILED_POLLS_MAX) return false;
    return !this.isResting(now) && !this.circuit.isOpen(now);
  }

  isResting(now: number): boolean {
    return now < this.restingUntil;
  }

  isFull(): boolean {
    return this.inFlight >= this.#limits.inFlightMax;
  }

  /** One word for logs and status pages. */
  state(now: number): NodeState {
    if (this.wrongChain) return 'wrong-chain';
    if (this.cordon !== null) return 'cordoned';
    return this.ownState(now);
  }

  /** The same, whatever the operator says of it. */
  ownState(now: number): NodeState {
    if (this.isResting(now)) return 'resting';
    if (this.circuit.tripped || this.#failedPolls >= FAILED_POLLS_MAX) return 'failing';
    if (this.behind || now < this.cordonedUntil) return 'behind';
    return this.lastAnswerAt === null ? 'unknown' : 'healthy';
  }

  /** What stands behind the state, in words; null when nothing is to be said. */
  reason(now: number): string | null {
    const state = this.state(now);
    if (state === 'cordoned')
      return this.cordon === '' ? 'taken out of service by the operator' : this.cordon;
    if (state === 'wrong-chain') return 'belongs to another chain than its network';
    if (state === 'resting') return 'asked to be left alone for a while';
    if (state === 'failing') {
      const { failuresInRow } = this.circuit;
      return failuresInRow > 0 ? `${failuresInRow} failures in a row` : 'does not answer';
    }
    if (state !== 'behind') return null;
    return this.behind ? `${this.lagSlots} slots behind` : 'says that it is behind';
  }

  /**
   * Learns from a poll. A cheap question answered does not excuse dear ones that failed: it closes a tripped
   * circuit, but does not stop the counting of failures in a row.
   */
  learnFromPoll(outcome: Outcome, elapsedMs: number): void {
    if (outcome.kind !== 'answer' && outcome.kind !== 'aborted') this.#failedPolls++;
    if (outcome.kind !== 'answer' || this.circuit.tripped) this.learn(outcome, elapsedMs);
    else this.#noteAnswer(performance.now(), elapsedMs);
  }

  /**
   * Learns from how an attempt ended.
   * @param elapsedMs - null when the time it took, or that it took too long, does not speak about the node.
   */
  learn(outcome: Outcome, elapsedMs: number | null): void {
    const now = performance.now();
    switch (outcome.kind) {
      case 'answer':
        this.circuit.succeeded();
        this.#noteAnswer(now, elapsedMs);
        if (nodeErrorRow(outcome.answer.errorCode).behind) this.cordonedUntil = now + this.#limits.cordonMs;
        break;
      case 'status':
        this.#refused(outcome.status, outcome.restMs, now);
        break;
      case 'garbage':
        this.circuit.failed(now);
        break;
      case 'transport':
        // A question that took too long says more about the question than about the node.
        if (outcome.timedOut && elapsedMs === null) this.circuit.released();
        else this.circuit.failed(now);
        if (outcome.timedOut) this.#noteLatency(elapsedMs);
        break;
      default:
        this.circuit.released();
    }
  }

  #noteAnswer(now: number, elapsedMs: number | null): void {
    this.#throttledInRow = 0;
    this.#failedPolls = 0;
    this.lastAnswerAt = now;
    this.#noteLatency(elapsedMs);
  }

  #noteLatency(elapsedMs: number | null): void {
    if (elapsedMs === null) return;
    const before = this.latencyMs ?? elapsedMs;
    this.latencyMs = before + LATENCY_WEIGHT * (elapsedMs - before);
  }

  #refused(status: number, restMs: number | null, now: number): void {
    if (restMs !== null || status === 429) this.#rest(restMs, now);
    // 400, 413 and their like may be the caller's doing: a bad request must not cut off a good node.
    const ownFault = status >= 500 || status === 401 || status === 403 || status === 404;
    if (ownFault) this.circuit.failed(now);
    else this.circuit.released();
  }

  #rest(restMs: number | null, now: number): void {
    const doubled = this.#limits.restMs * 2 ** Math.min(this.#throttledInRow++, 6);
    const ms = Math.min(restMs ?? doubled, this.#limits.restMaxMs);
    this.restingUntil = Math.max(this.restingUntil, now + ms);
  }

  /** Closes every connection at once; what is under way fails. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}
