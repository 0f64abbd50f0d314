import { BUCKET_COUNT } from '../../../base/histogram.ts';
import type { Store } from '../../database/open.ts';
import { addLatency, latencySum } from '../../usage/latency-text.ts';
import { type Axis, lengthOf, zeros } from '../../usage/queries/axis.ts';
import { heatBoundsMs, heatRowOf, percentile, percentilesOf } from '../../usage/queries/percentiles.ts';
import { latenciesOf, type UsageFilter, wholeSumsOf } from '../../usage/queries/read-usage.ts';
import { usageUpdatedAt } from '../../usage/queries/updated-at.ts';
import type { RouteOutput } from '../contract/contract.ts';
import type { Handler } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { axisOf, toAxisJson } from './usage-range.ts';
import { filterOf } from './usage-totals.ts';

const NAME = 'GET /customers/{customer}/performance';
type Performance = RouteOutput<typeof NAME>;
type Method = Performance['methods'][number];
type MethodCounts = Omit<Method, 'latency' | 'averageBytes'> & { bytes: number };

const nameOf = (product: string, method: string): string => `${product} ${method}`;

async function readMethods(
  store: Store,
  axis: Axis,
  filter: UsageFilter,
): Promise<Map<string, MethodCounts>> {
  const methods = new Map<string, MethodCounts>();
  for await (const rows of wholeSumsOf(store, axis, filter, ['product', 'method', 'status'])) {
    for (const { product, method, status, requests, bytes_out } of rows) {
      // Messages alone are no calls.
      if (requests === 0) continue;
      const name = nameOf(product, method);
      const one = methods.get(name) ?? { method, product, requests: 0, errors: 0, bytes: 0 };
      one.requests += requests;
      if (status !== 'ok') one.errors += requests;
      one.bytes += bytes_out;
      methods.set(name, one);
    }
  }
  return methods;
}

type Latencies = Readonly<{ steps: readonly Float64Array[]; methods: ReadonlyMap<string, Float64Array> }>;

async function readLatencies(store: Store, axis: Axis, filter: UsageFilter): Promise<Latencies> {
  const steps = Array.from({ length: lengthOf(axis) }, latencySum);
  const methods = new Map<string, Float64Array>();
  for await (const rows of latenciesOf(store, axis, filter, true)) {
    for (const { at, product, method, latency } of rows) {
      const name = nameOf(product, method);
      let sum = methods.get(name);
      if (sum === undefined) {
        sum = latencySum();
        methods.set(name, sum);
      }
      addLatency(sum, latency);
      const step = steps[at];
      if (step !== undefined) addLatency(step, latency);
    }
  }
  return { steps, methods };
}

/** Rows of latency, columns of time. */
function heatOf(axis: Axis, steps: readonly Float64Array[]): Performance['heat'] {
  const counts = heatBoundsMs.map(() => zeros(axis));
  steps.forEach((step, at) => {
    for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
      const row = counts[heatRowOf(bucket)];
      if (row !== undefined) row[at] = (row[at] ?? 0) + (step[bucket] ?? 0);
    }
  });
  return { boundsMs: [...heatBoundsMs], counts };
}

/** How long calls took that a node answered, over time and by method. */
export const usagePerformance =
  ({ store, now }: ApiServices): Handler<typeof NAME> =>
  async ({ path: { customer }, query }) => {
    const at = now();
    const axis = await axisOf(store, query, at);
    const filter = await filterOf(store, customer, query);
    const { steps, methods } = await readLatencies(store, axis, filter);
    const series = (share: number) => steps.map((step) => percentile(step, share));
    const methodCounts = [...(await readMethods(store, axis, filter))].sort(
      ([, a], [, b]) => b.requests - a.requests,
    );
    return {
      axis: toAxisJson(axis),
      series: { p50: series(0.5), p95: series(0.95), p99: series(0.99) },
      methods: methodCounts.map(([name, { bytes, ...one }]) => ({
        ...one,
        averageBytes: Math.round(bytes / one.requests),
        latency: percentilesOf(methods.get(name) ?? []),
      })),
      heat: heatOf(axis, steps),
      updatedAt: await usageUpdatedAt(store, at),
    };
  };
