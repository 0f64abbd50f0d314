import type { Network } from '../../protocol/call.ts';
import { ErrorRate, type RequestTotals } from './error-rate.ts';
import { type GatewayProblem, mostUrgent, problemKey } from './problem.ts';

export const healthOptions = {
  /** Share of requests in the window that fail because of the service or its nodes. */
  errorRatio: 0.05,
  /** Minimum requests in the window before the error rate counts. */
  errorCallsMin: 20,
  streamLagSlots: 50,
  errorWindowMs: 60_000,
  /** How long a loss counts as a problem. */
  lossWindowMs: 300_000,
  /** How long a node may be behind, ahead or slow before that counts as a problem. */
  degradedMaxMs: 30_000,
  /** How long a node may take to respond after startup. */
  startupMs: 5_000,
  /** A disk is nearly full if its free space is below both limits. */
  diskFreeRatio: 0.05,
  diskFreeBytes: 5 * 1024 ** 3,
};

export type HealthOptions = Readonly<typeof healthOptions>;

type NodeFacts = Readonly<{ network: Network; name: string; state: string; reason: string | null }>;

/** What one gateway knows about itself. */
export type HealthFacts = Readonly<{
  nodes: () => readonly NodeFacts[];
  requests: () => RequestTotals;
  /** null: no Geyser source in use. `lagSlots` is null while it is unknown. */
  stream: () => Readonly<{ lagSlots: number | null; isDown: boolean }> | null;
  isStoreUp: () => boolean;
  /** True also if ClickHouse is not configured. */
  isClickHouseUp: () => boolean;
  /** Whether ClickHouse repeatedly fails to store some data although it is up. */
  hasRejectedRows: () => boolean;
  /** Entries lost since startup. */
  losses: () => Readonly<{ usage: number; log: number }>;
  /** null: unknown. */
  disk: () => Readonly<{ freeBytes: number; totalBytes: number }> | null;
}>;

/** `afterMs`: how long the condition must hold before it counts as a problem. */
type Condition = Omit<GatewayProblem, 'since'> & Readonly<{ afterMs?: number }>;

const everywhere = { network: null, node: null } as const;

/** States in which a node cannot serve calls; the states of `degraded` may pass by themselves. */
const unusable: ReadonlySet<string> = new Set(['failing', 'wrong-chain']);
const degraded: ReadonlySet<string> = new Set(['behind', 'ahead', 'slow']);
const NODES_NAMED_MAX = 3;

const stateText = ({ state, reason }: NodeFacts): string =>
  reason === null ? state : `${state} (${reason})`;

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const count = (value: number): string => value.toLocaleString('en-US');

class LossWindow {
  #total = 0;
  #grewAt = Number.NEGATIVE_INFINITY;

  /** @returns whether entries were lost within the window. */
  update(total: number, windowMs: number, now: number): boolean {
    if (total > this.#total) this.#grewAt = now;
    this.#total = total;
    return now - this.#grewAt < windowMs;
  }
}

const systemClock = { monotonic: () => performance.now(), date: () => Date.now() };

/** Evaluates the condition of one gateway. */
export class ProblemTracker {
  readonly #facts: HealthFacts;
  readonly #options: HealthOptions;
  readonly #clock: typeof systemClock;
  readonly #startedAt: number;
  readonly #errorRate: ErrorRate;
  readonly #usageLoss = new LossWindow();
  readonly #logLoss = new LossWindow();
  /** When each condition began, by problem key. */
  #began = new Map<string, Readonly<{ monotonic: number; date: number }>>();

  /** @param options - read at each evaluation, because a reload may change them. */
  constructor(facts: HealthFacts, options: HealthOptions, clock = systemClock) {
    this.#facts = facts;
    this.#options = options;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
    this.#errorRate = new ErrorRate(options.errorWindowMs);
  }

  /** Returns the current problems, the most urgent first. */
  evaluate(): GatewayProblem[] {
    const now = { monotonic: this.#clock.monotonic(), date: this.#clock.date() };
    const began = new Map<string, typeof now>();
    const problems: GatewayProblem[] = [];
    for (const { afterMs = 0, ...condition } of this.#conditions(now.monotonic)) {
      const key = problemKey(condition);
      const start = this.#began.get(key) ?? now;
      began.set(key, start);
      if (now.monotonic - start.monotonic >= afterMs) problems.push({ ...condition, since: start.date });
    }
    this.#began = began;
    return mostUrgent(problems);
  }

  #conditions(now: number): Condition[] {
    return [
      ...this.#nodeConditions(now),
      this.#storeCondition(),
      ...this.#clickHouseConditions(),
      this.#diskCondition(),
      this.#errorCondition(now),
      this.#streamCondition(),
      ...this.#lossConditions(now),
    ].filter((condition) => condition !== null);
  }

  #nodeConditions(now: number): Condition[] {
    const isStarting = now - this.#startedAt < this.#options.startupMs;
    // Nodes that are behind, ahead or slow, and cordoned ones, serve calls when no other node can.
    const isReady = ({ state }: NodeFacts): boolean =>
      ['healthy', 'cordoned'].includes(state) || degraded.has(state) || (state === 'unknown' && isStarting);
    const networks = Map.groupBy(this.#facts.nodes(), ({ network }) => network);
    return [...networks].flatMap(([network, nodes]) =>
      nodes.some(isReady) ? this.#unhealthyNodes(nodes) : [noReadyNode(network, nodes)],
    );
  }

  #unhealthyNodes(nodes: readonly NodeFacts[]): Condition[] {
    return nodes
      .filter(({ state }) => unusable.has(state) || degraded.has(state))
      .map((node) => ({
        code: 'node_unhealthy',
        severity: 'warning',
        network: node.network,
        node: node.name,
        text: `Node ${node.name} (${node.network}) is ${stateText(node)}.`,
        afterMs: unusable.has(node.state) ? 0 : this.#options.degradedMaxMs,
      }));
  }

  #storeCondition(): Condition | null {
    if (this.#facts.isStoreUp()) return null;
    const text = 'The database is unavailable. Known API keys still work; changes fail, and usage is queued.';
    return { code: 'database_unavailable', severity: 'error', ...everywhere, text };
  }

  #clickHouseConditions(): Condition[] {
    const conditions: Condition[] = [];
    if (!this.#facts.isClickHouseUp())
      conditions.push({
        ...{ code: 'clickhouse_unavailable', severity: 'error', ...everywhere },
        text:
          'ClickHouse is unavailable. Usage pages and the request log fail, and new entries are queued. ' +
          'Calls, quotas and bills are not affected.',
      });
    if (this.#facts.hasRejectedRows())
      conditions.push({
        ...{ code: 'clickhouse_rows_rejected', severity: 'warning', ...everywhere },
        text:
          'Some usage or audit data could not be stored in ClickHouse; retrying. ' +
          'See the gateway log for the reason.',
      });
    return conditions;
  }

  #diskCondition(): Condition | null {
    const disk = this.#facts.disk();
    if (disk === null || disk.totalBytes === 0) return null;
    const { freeBytes, totalBytes } = disk;
    const { diskFreeRatio, diskFreeBytes } = this.#options;
    const share = freeBytes / totalBytes;
    if (share >= diskFreeRatio || freeBytes >= diskFreeBytes) return null;
    const severity = share < diskFreeRatio / 5 ? 'error' : 'warning';
    const left = `${count(Math.floor(freeBytes / 1024 ** 2))} MiB, ${percent(share)}`;
    const text = `The disk of the data folder is nearly full: ${left} free.`;
    return { code: 'disk_full', severity, ...everywhere, text };
  }

  /** Once raised, the problem ends when the rate falls to half of the limit, or with too few requests. */
  #errorCondition(now: number): Condition | null {
    const { errorRatio, errorCallsMin } = this.#options;
    const { total, failed } = this.#errorRate.update(this.#facts.requests(), now);
    const isRaised = this.#began.has(problemKey({ code: 'error_rate', ...everywhere }));
    const limit = isRaised ? errorRatio / 2 : errorRatio;
    if (total < errorCallsMin || failed <= total * limit) return null;
    const figures = `${count(failed)} of ${count(total)}`;
    const text = `${percent(failed / total)} of requests failed in the last minute (${figures}).`;
    return { code: 'error_rate', severity: 'error', ...everywhere, text };
  }

  #streamCondition(): Condition | null {
    const stream = this.#facts.stream();
    if (stream === null) return null;
    const { lagSlots, isDown } = stream;
    if (!isDown && (lagSlots ?? 0) <= this.#options.streamLagSlots) return null;
    const text = isDown
      ? 'No Geyser server delivers slots. Streams and subscriptions are delayed or use PubSub.'
      : `Streams are ${count(lagSlots ?? 0)} slots behind the nodes.`;
    return { code: 'stream_lag', severity: 'error', ...everywhere, text };
  }

  #lossConditions(now: number): (Condition | null)[] {
    const { usage, log } = this.#facts.losses();
    const { lossWindowMs } = this.#options;
    const isUsageLost = this.#usageLoss.update(usage, lossWindowMs, now);
    const isLogLost = this.#logLoss.update(log, lossWindowMs, now);
    return [
      isUsageLost
        ? {
            ...{ code: 'usage_loss', severity: 'error', ...everywhere },
            text: `Usage is not counted completely: ${count(usage)} entries were lost since startup.`,
          }
        : null,
      isLogLost
        ? {
            ...{ code: 'log_loss', severity: 'warning', ...everywhere },
            text: `The request log is incomplete: ${count(log)} entries were lost since startup.`,
          }
        : null,
    ];
  }
}

function noReadyNode(network: Network, nodes: readonly NodeFacts[]): Condition {
  const named = nodes.slice(0, NODES_NAMED_MAX).map((node) => `${node.name} is ${stateText(node)}`);
  const more = nodes.length > named.length ? `, and ${nodes.length - named.length} more` : '';
  const text = `No node of ${network} is ready, so its requests may fail: ${named.join('; ')}${more}.`;
  return { code: 'no_ready_node', severity: 'error', network, node: null, text };
}
