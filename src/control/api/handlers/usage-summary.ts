import { DEFAULT_CUSTOMER_ID } from '../../accounts/roles.ts';
import type { Store } from '../../database/store.ts';
import { quotasOf } from '../../usage/quotas.ts';
import {
  hasSucceeded,
  lengthOf,
  percentile,
  percentilesOf,
  previousAxis,
  readWholeSums,
  type UsageQuery,
  usageUpdatedAt,
  zeros,
} from '../../usage/read-usage.ts';
import type { UsageReader } from '../../usage/usage-reader.ts';
import { addLatency, emptyLatencyHistogram } from '../../usage/usage-sums.ts';
import type { RouteOutput } from '../contract/contract.ts';
import { defineHandlers } from '../handler.ts';
import { type ApiServices, usageReaderOf } from '../services.ts';
import { addAt, addTotals, axisOf, noStatuses, noTotals, toAxisJson } from './usage-range.ts';

type Summary = RouteOutput<'GET /customers/{customer}/summary'>;

async function readNow(usage: UsageReader, query: UsageQuery) {
  const totals = noTotals();
  const byStatus = noStatuses(query.axis);
  const credits = zeros(query.axis);
  await usage.readSums(query, ['status'], (row) => {
    addTotals(totals, row);
    addAt(byStatus[row.status], row.at, row.requests);
    addAt(credits, row.at, row.credits);
  });
  const whole = emptyLatencyHistogram();
  const steps = Array.from({ length: lengthOf(query.axis) }, emptyLatencyHistogram);
  await usage.readLatencies(query, null, ({ at, latency }) => {
    addLatency(whole, latency);
    const step = steps[at];
    if (step !== undefined) addLatency(step, latency);
  });
  const series = (share: number) => steps.map((step) => percentile(step, share));
  const latency = { p50: series(0.5), p95: series(0.95), p99: series(0.99) };
  return { now: { ...totals, latency: percentilesOf(whole) }, byStatus, latency, credits };
}

async function readBefore(usage: UsageReader, query: UsageQuery): Promise<Summary['before']> {
  const totals = noTotals();
  await usage.readSums(query, ['status'], (row) => addTotals(totals, row), null);
  const whole = emptyLatencyHistogram();
  await usage.readLatencies(query, null, ({ latency }) => addLatency(whole, latency));
  return { ...totals, latency: percentilesOf(whole) };
}

/** Requests without a known key have no plan. */
async function countWithoutKey(store: Store, { axis, filter }: UsageQuery): Promise<number> {
  let requests = 0;
  if (filter.customerId === DEFAULT_CUSTOMER_ID)
    await readWholeSums(store, { axis, filter: { ...filter, planId: '' } }, [], (row) => {
      requests += row.requests;
    });
  return requests;
}

async function connectionsOf({ db }: Store, customerId: string): Promise<Summary['connections']> {
  const rows = await db
    .selectFrom('connection')
    .select((select) => ['kind', select.fn.countAll<number>().as('count')])
    .where('customer_id', '=', customerId)
    .groupBy('kind')
    .execute();
  const counts = Object.fromEntries(rows.map(({ kind, count }) => [kind, Number(count)]));
  return { websocket: 0, grpc: 0, ...counts };
}

export const usageSummaryHandlers = (services: ApiServices) => {
  const { store, now } = services;
  const usage = usageReaderOf(services);
  return defineHandlers({
    /** Reads totals per customer, so the cost does not depend on the number of keys. */
    async 'GET /customers/{customer}/summary'({ path: { customer }, query }) {
      const at = now();
      const axis = await axisOf(store, query, at);
      const filter = { customerId: customer };
      const before = { axis: previousAxis(axis), filter };
      const { latency, ...shown } = await readNow(usage, { axis, filter });
      return {
        axis: toAxisJson(axis),
        ...shown,
        p95: latency.p95,
        before: await readBefore(usage, before),
        withoutKey: {
          now: await countWithoutKey(store, { axis, filter }),
          before: await countWithoutKey(store, before),
        },
        quotas: await quotasOf(store, customer, at),
        connections: await connectionsOf(store, customer),
        hasSucceeded: await hasSucceeded(store, customer),
        updatedAt: await usageUpdatedAt(store, at),
      };
    },
    async 'GET /usage/summary'({ query: { method, network, code, ...range } }) {
      const at = now();
      const axis = await axisOf(store, range, at);
      const filter = { customerId: null, method, network, code };
      return {
        axis: toAxisJson(axis),
        ...(await readNow(usage, { axis, filter })),
        before: await readBefore(usage, { axis: previousAxis(axis), filter }),
        updatedAt: await usageUpdatedAt(store, at),
      };
    },
  });
};
