import { sql } from 'kysely';
import type { Network } from '../../protocol/call.ts';
import { selectRows } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import type { NodeEventTable, NodeHistoryTable } from '../database/tables/node-history.ts';
import {
  type Axis,
  BUCKETS_AT_ONCE,
  lengthOf,
  percentile,
  percentilesOf,
  stepMs,
  zeros,
} from '../usage/read-usage.ts';
import { addLatency, emptyLatencyHistogram } from '../usage/usage-sums.ts';

const EVENTS_MAX = 500;

type Series = (number | null)[];

export type NodeHistoryJson = Readonly<{
  network: Network | null;
  version: string | null;
  lagSlots: Series;
  p50: Series;
  p95: Series;
  responses: number[];
  failures: number[];
  throttled: number[];
  /** Share of the attempts of all nodes of the network. */
  share: Series;
  /** Share of the samples in which the node was healthy. */
  ready: Series;
}>;

const callsOf = ({ responses, failures, throttled }: NodeHistoryTable): number =>
  responses + failures + throttled;

const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/** Attempts of all nodes of a network. */
const readNetworkCalls = ({ db }: Store, network: Network, { step, from, to }: Axis) =>
  db
    .selectFrom('node_history')
    .select(['bucket', sql<number | string>`sum(responses + failures + throttled)`.as('calls')])
    .where('step', '=', step === 'minute' ? 'minute' : 'hour')
    .where('network', '=', network)
    .where('bucket', '>=', from)
    .where('bucket', '<', to)
    .groupBy('bucket')
    .execute();

/** History of a node across gateways. `axis` is in minutes or hours. */
export async function readNodeHistory(store: Store, node: string, axis: Axis): Promise<NodeHistoryJson> {
  const step = axis.step === 'minute' ? 'minute' : 'hour';
  const own = await selectRows(store.db, 'node_history', { step, node })
    .where('bucket', '>=', axis.from)
    .where('bucket', '<', axis.to)
    .execute();
  const network = own.at(-1)?.network ?? null;
  const totals = network === null ? [] : await readNetworkCalls(store, network, axis);
  const latencies = zeros(axis).map(emptyLatencyHistogram);
  const [responses, failures, throttled] = [zeros(axis), zeros(axis), zeros(axis)];
  const [samples, ready, calls, networkCalls] = [zeros(axis), zeros(axis), zeros(axis), zeros(axis)];
  const lagSlots: Series = Array<number | null>(lengthOf(axis)).fill(null);
  const add = (to: number[], at: number, value: number): void => {
    to[at] = (to[at] ?? 0) + value;
  };
  for (const { bucket, calls } of totals) add(networkCalls, bucket - axis.from, Number(calls));
  for (const row of own) {
    const at = row.bucket - axis.from;
    add(responses, at, row.responses);
    add(failures, at, row.failures);
    add(throttled, at, row.throttled);
    add(samples, at, row.samples);
    add(ready, at, row.ready);
    add(calls, at, callsOf(row));
    const latency = latencies[at];
    if (latency !== undefined) addLatency(latency, row.latency);
    if (row.lag_max !== null) lagSlots[at] = Math.max(lagSlots[at] ?? 0, row.lag_max);
  }
  const newest = own.filter(({ version }) => version !== null).toSorted((a, b) => b.bucket - a.bucket)[0];
  return {
    ...{ network, version: newest?.version ?? null, lagSlots, responses, failures, throttled },
    p50: latencies.map((counts) => percentile(counts, 0.5)),
    p95: latencies.map((counts) => percentile(counts, 0.95)),
    share: calls.map((count, at) => ratio(count, networkCalls[at] ?? 0)),
    ready: ready.map((count, at) => ratio(count, samples[at] ?? 0)),
  };
}

/** Attempts at each node. @param network - undefined: all networks. */
export async function readTopNodes({ db }: Store, axis: Axis, network?: Network) {
  const step = axis.step === 'minute' ? 'minute' : 'hour';
  const factor = stepMs[axis.step] / stepMs[step];
  const nodes = new Map<string, { requests: number; errors: number; counts: Float64Array }>();
  const end = axis.to * factor;
  for (let from = axis.from * factor; from < end; from += BUCKETS_AT_ONCE) {
    const rows = await selectRows(db, 'node_history', { step, network })
      .where('bucket', '>=', from)
      .where('bucket', '<', Math.min(end, from + BUCKETS_AT_ONCE))
      .execute();
    for (const row of rows) {
      const sum = nodes.get(row.node) ?? { requests: 0, errors: 0, counts: emptyLatencyHistogram() };
      nodes.set(row.node, sum);
      sum.requests += callsOf(row);
      sum.errors += row.failures + row.throttled;
      addLatency(sum.counts, row.latency);
    }
  }
  return [...nodes].map(([name, { counts, ...sum }]) => ({ name, ...sum, latency: percentilesOf(counts) }));
}

/** Events of a node, newest first. */
export const readNodeEvents = (
  { db }: Store,
  node: string,
  fromMs: number,
  toMs: number,
): Promise<NodeEventTable[]> =>
  selectRows(db, 'node_event', { node })
    .where('at', '>=', fromMs)
    .where('at', '<', toMs)
    .orderBy('at', 'desc')
    .limit(EVENTS_MAX)
    .execute();
