import type { Store } from '../../database/open.ts';
import { addLatency, latencySum } from '../../usage/latency-text.ts';
import { type Axis, before, lengthOf, zeros } from '../../usage/queries/axis.ts';
import { hasSucceeded } from '../../usage/queries/has-succeeded.ts';
import { percentile, percentilesOf } from '../../usage/queries/percentiles.ts';
import { quotasOf } from '../../usage/queries/quotas.ts';
import { latenciesOf, sumsOf, type UsageFilter, wholeSumsOf } from '../../usage/queries/read-usage.ts';
import { usageUpdatedAt } from '../../usage/queries/updated-at.ts';
import type { RouteOutput } from '../contract/contract.ts';
import type { Handler } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { axisOf, toAxisJson } from './usage-range.ts';
import { addAt, addTotals, noStatuses, noTotals } from './usage-totals.ts';

const NAME = 'GET /customers/{customer}/summary';
type Summary = RouteOutput<typeof NAME>;
type CurrentSummary = Pick<Summary, 'now' | 'byStatus' | 'p95' | 'credits'>;

async function readNow(store: Store, axis: Axis, filter: UsageFilter): Promise<CurrentSummary> {
  const totals = noTotals();
  const byStatus = noStatuses(axis);
  const credits = zeros(axis);
  for await (const rows of sumsOf(store, axis, filter, ['status'])) {
    for (const row of rows) {
      addTotals(totals, row);
      addAt(byStatus[row.status], row.at, row.requests);
      addAt(credits, row.at, row.credits);
    }
  }
  const whole = latencySum();
  const steps = Array.from({ length: lengthOf(axis) }, latencySum);
  for await (const rows of latenciesOf(store, axis, filter, false)) {
    for (const { at, latency } of rows) {
      addLatency(whole, latency);
      const step = steps[at];
      if (step !== undefined) addLatency(step, latency);
    }
  }
  const p95 = steps.map((step) => percentile(step, 0.95));
  return { now: { ...totals, latency: percentilesOf(whole) }, byStatus, p95, credits };
}

async function readBefore(store: Store, axis: Axis, filter: UsageFilter): Promise<Summary['before']> {
  const totals = noTotals();
  for await (const rows of wholeSumsOf(store, axis, filter, ['status'])) {
    for (const row of rows) addTotals(totals, row);
  }
  const whole = latencySum();
  for await (const rows of latenciesOf(store, axis, filter, false)) {
    for (const { latency } of rows) addLatency(whole, latency);
  }
  return { ...totals, latency: percentilesOf(whole) };
}

async function connectionsOf({ db }: Store, customerId: string): Promise<Summary['connections']> {
  const rows = await db
    .selectFrom('connection')
    .select((select) => ['kind', select.fn.countAll<number>().as('count')])
    .where('customer_id', '=', customerId)
    .groupBy('kind')
    .execute();
  const of = (kind: 'websocket' | 'grpc') => Number(rows.find((row) => row.kind === kind)?.count ?? 0);
  return { websocket: of('websocket'), grpc: of('grpc') };
}

/** What Home shows. Read from totals by customer, so it is as fast for a customer with very many keys. */
export const usageSummary =
  ({ store, now }: ApiServices): Handler<typeof NAME> =>
  async ({ path: { customer }, query }) => {
    const at = now();
    const axis = await axisOf(store, query, at);
    const filter = { customerId: customer };
    return {
      axis: toAxisJson(axis),
      ...(await readNow(store, axis, filter)),
      before: await readBefore(store, before(axis), filter),
      quotas: await quotasOf(store, customer, at),
      connections: await connectionsOf(store, customer),
      hasSucceeded: await hasSucceeded(store, customer),
      updatedAt: await usageUpdatedAt(store, at),
    };
  };
