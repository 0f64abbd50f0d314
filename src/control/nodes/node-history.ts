import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { chunk } from '../../base/chunk.ts';
import { BUCKET_COUNT } from '../../base/histogram.ts';
import type { Network } from '../../protocol/call.ts';
import type { Store } from '../database/store.ts';
import {
  type HistoryStep,
  historySteps,
  type NodeEventTable,
  type NodeHistoryTable,
} from '../database/tables/node-history.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { stepMs } from '../usage/read-usage.ts';
import { serializeHistogram } from '../usage/usage-sums.ts';

export const nodeHistoryOptions = {
  sampleIntervalMs: 2_000,
  flushIntervalMs: 10_000,
  minutesDays: 2,
  hoursDays: 90,
  /** Events of a node that are stored in an hour; a node that changes its state all the time has more. */
  eventsPerHourMax: 100,
  /** Buckets and events in memory while the database is unreachable. Beyond it, the oldest are dropped. */
  bucketsMax: 10_000,
  eventsMax: 1_000,
};

export type NodeHistoryOptions = Readonly<typeof nodeHistoryOptions>;

/** Attempts since the node was created. */
export type AttemptTotals = Readonly<{
  succeeded: number;
  failed: number;
  throttled: number;
  latencies: ArrayLike<number>;
}>;

export type NodeSample = Readonly<{
  network: Network;
  name: string;
  state: string;
  reason: string | null;
  lagSlots: number | null;
  version: string | null;
  attempts: AttemptTotals;
}>;

type Bucket = Omit<NodeHistoryTable, 'latency'> & { readonly latency: Float64Array; isChanged: boolean };

type Previous = Readonly<{
  state: string;
  version: string | null;
  succeeded: number;
  failed: number;
  throttled: number;
  latencies: Float64Array;
}>;

const BATCH_ROWS = 25;
const DAY_MS = 86_400_000;

const nothing: Previous = {
  ...{ state: 'unknown', version: null, succeeded: 0, failed: 0, throttled: 0 },
  latencies: new Float64Array(BUCKET_COUNT),
};

/** Samples the nodes of this gateway and stores minutes, hours and events. Writing twice is harmless. */
export class NodeHistory {
  readonly #store: Store;
  readonly #gateway: string;
  readonly #sample: () => readonly NodeSample[];
  readonly #options: NodeHistoryOptions;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();
  #events: NodeEventTable[] = [];
  readonly #eventCounts = new Map<string, Readonly<{ hour: number; count: number }>>();
  #previous = new Map<string, Previous>();
  readonly #sampling: PeriodicTask;
  readonly #flushing: PeriodicTask;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(
    {
      store,
      gateway,
      sample,
    }: Readonly<{ store: Store; gateway: string; sample: () => readonly NodeSample[] }>,
    options: NodeHistoryOptions,
    { onState, now = Date.now }: Readonly<{ onState?: OnState; now?: () => number }> = {},
  ) {
    this.#store = store;
    this.#gateway = gateway;
    this.#sample = sample;
    this.#options = options;
    this.#now = now;
    const state = new FailureState(onState);
    this.#sampling = new PeriodicTask(async () => this.record(), options.sampleIntervalMs);
    this.#flushing = new PeriodicTask(() => state.guard(() => this.#flush()), options.flushIntervalMs);
  }

  start(): void {
    this.#sampling.start();
    this.#flushing.start();
  }

  /** Writes what is in memory. Never rejects. */
  flush(): Promise<void> {
    return this.#flushing.rerun();
  }

  async stop(): Promise<void> {
    await this.#sampling.stop();
    await this.#flushing.finish();
  }

  /** Takes a sample of all nodes. */
  record(): void {
    const now = this.#now();
    const current = new Map<string, Previous>();
    for (const node of this.#sample()) {
      const key = `${node.network}/${node.name}`;
      const before = this.#previous.get(key) ?? nothing;
      current.set(key, previousOf(node));
      for (const step of historySteps) this.#add(this.#bucketOf(step, node, now), node, before);
      this.#noteChanges(key, node, before, now);
    }
    this.#previous = current;
  }

  #bucketOf(step: HistoryStep, { network, name: node }: NodeSample, now: number): Bucket {
    const bucket = Math.floor(now / stepMs[step]);
    const key = `${step} ${bucket} ${network}/${node}`;
    const existing = this.#buckets.get(key);
    if (existing !== undefined) return existing;
    const { bucketsMax } = this.#options;
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size < bucketsMax) break;
      this.#buckets.delete(oldest);
    }
    const fresh: Bucket = {
      ...{ step, bucket, gateway: this.#gateway, network, node, samples: 0, ready: 0, lag_max: null },
      ...{ responses: 0, failures: 0, throttled: 0, version: null, isChanged: true },
      latency: new Float64Array(BUCKET_COUNT),
    };
    this.#buckets.set(key, fresh);
    return fresh;
  }

  #add(bucket: Bucket, { state, lagSlots, version, attempts }: NodeSample, before: Previous): void {
    // A node that was replaced counts from zero again.
    const base = attempts.succeeded < before.succeeded || attempts.failed < before.failed ? nothing : before;
    bucket.samples += 1;
    if (state === 'healthy') bucket.ready += 1;
    if (lagSlots !== null) bucket.lag_max = Math.max(bucket.lag_max ?? 0, lagSlots);
    bucket.responses += attempts.succeeded - base.succeeded;
    bucket.failures += attempts.failed - base.failed;
    bucket.throttled += Math.max(0, attempts.throttled - base.throttled);
    for (let index = 0; index < BUCKET_COUNT; index++) {
      const grown = (attempts.latencies[index] ?? 0) - (base.latencies[index] ?? 0);
      bucket.latency[index] = (bucket.latency[index] ?? 0) + grown;
    }
    bucket.version = version ?? bucket.version;
    bucket.isChanged = true;
  }

  #noteChanges(
    key: string,
    { network, name, state, reason, version }: NodeSample,
    before: Previous,
    now: number,
  ) {
    const event = { at: now, gateway: this.#gateway, network, node: name };
    const isStart = before.state === 'unknown' && state === 'healthy';
    if (state !== before.state && !isStart) this.#addEvent(key, { ...event, kind: state, detail: reason });
    if (version !== null && before.version !== null && version !== before.version)
      this.#addEvent(key, { ...event, kind: 'version', detail: version });
  }

  #addEvent(key: string, event: Omit<NodeEventTable, 'id'>): void {
    const hour = Math.floor(event.at / stepMs.hour);
    const counted = this.#eventCounts.get(key);
    const count = counted?.hour === hour ? counted.count : 0;
    if (count >= this.#options.eventsPerHourMax) return;
    this.#eventCounts.set(key, { hour, count: count + 1 });
    this.#events.push({ ...event, id: randomUUID() });
    if (this.#events.length > this.#options.eventsMax) this.#events.shift();
  }

  async #flush(): Promise<void> {
    const changed = [...this.#buckets].filter(([, bucket]) => bucket.isChanged);
    for (const batch of chunk(changed, BATCH_ROWS)) {
      for (const [, bucket] of batch) bucket.isChanged = false;
      await this.#write(batch.map(([, bucket]) => bucket)).catch((error: unknown) => {
        for (const [, bucket] of batch) bucket.isChanged = true;
        throw error;
      });
    }
    await this.#writeEvents();
    const now = this.#now();
    for (const [key, { step, bucket, isChanged }] of this.#buckets)
      if (!isChanged && bucket < Math.floor(now / stepMs[step])) this.#buckets.delete(key);
    await this.#prune(now);
  }

  async #write(buckets: readonly Bucket[]): Promise<void> {
    const rows = buckets.map(({ isChanged: _, latency, ...row }) => ({
      ...row,
      latency: serializeHistogram(latency),
    }));
    await this.#store.db
      .insertInto('node_history')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['step', 'bucket', 'network', 'node', 'gateway']).doUpdateSet({
          samples: sql.ref('excluded.samples'),
          ready: sql.ref('excluded.ready'),
          lag_max: sql.ref('excluded.lag_max'),
          responses: sql.ref('excluded.responses'),
          failures: sql.ref('excluded.failures'),
          throttled: sql.ref('excluded.throttled'),
          latency: sql.ref('excluded.latency'),
          version: sql.ref('excluded.version'),
        }),
      )
      .execute();
  }

  async #writeEvents(): Promise<void> {
    while (this.#events.length > 0) {
      const batch = this.#events.slice(0, BATCH_ROWS);
      await this.#store.db
        .insertInto('node_event')
        .values(batch)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      this.#events = this.#events.filter((event) => !batch.includes(event));
    }
  }

  async #prune(now: number): Promise<void> {
    if (now - this.#prunedAt < stepMs.hour) return;
    this.#prunedAt = now;
    for (const [key, { hour }] of this.#eventCounts)
      if (hour < Math.floor(now / stepMs.hour)) this.#eventCounts.delete(key);
    const { db } = this.#store;
    const { minutesDays, hoursDays } = this.#options;
    for (const [step, days] of [['minute', minutesDays] as const, ['hour', hoursDays] as const])
      await db
        .deleteFrom('node_history')
        .where('step', '=', step)
        .where('bucket', '<', Math.floor((now - days * DAY_MS) / stepMs[step]))
        .execute();
    await db
      .deleteFrom('node_event')
      .where('at', '<', now - hoursDays * DAY_MS)
      .execute();
  }
}

function previousOf({ state, version, attempts }: NodeSample): Previous {
  const { succeeded, failed, throttled, latencies } = attempts;
  return { state, version, succeeded, failed, throttled, latencies: Float64Array.from(latencies) };
}
