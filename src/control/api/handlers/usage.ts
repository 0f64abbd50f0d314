import { BUCKET_COUNT } from '../../../base/histogram.ts';
import { OTHER_CODE } from '../../../gateway/metering/usage-meter.ts';
import { type FailureCode, failures } from '../../../protocol/errors.ts';
import { grpcCalls } from '../../../protocol/grpc/calls.ts';
import { methods } from '../../../protocol/methods.ts';
import { subscriptions } from '../../../protocol/subscriptions.ts';
import type { Store } from '../../database/store.ts';
import type { FailureExample, FailureFilter } from '../../requests/log-store.ts';
import { creditsByDay, quotasOf } from '../../usage/quotas.ts';
import {
  type Axis,
  heatBoundsMs,
  heatRowOf,
  lengthOf,
  monthRange,
  percentile,
  percentilesOf,
  stepMs,
  type UsageQuery,
  type UsageSum,
  usageUpdatedAt,
  zeros,
} from '../../usage/read-usage.ts';
import type { UsageReader } from '../../usage/usage-reader.ts';
import { addLatency, emptyLatencyHistogram } from '../../usage/usage-sums.ts';
import { ApiError, notFound } from '../api-error.ts';
import type { RouteOutput } from '../contract/contract.ts';
import { defineHandlers, type Handler } from '../handler.ts';
import { type ApiServices, logStoreOf, usageReaderOf } from '../services.ts';
import { addAt, keyNames, noStatuses, toAxisJson, usageQueryOf } from './usage-range.ts';
import { usageCsv, usageSeries } from './usage-series.ts';
import { usageSummaryHandlers } from './usage-summary.ts';
import { usageTopHandlers } from './usage-top.ts';

const PERFORMANCE_ROUTE = 'GET /customers/{customer}/performance';
type Performance = RouteOutput<typeof PERFORMANCE_ROUTE>;
type MethodCounts = Omit<Performance['methods'][number], 'latency' | 'averageBytes'> & { bytes: number };

const nameOf = (product: string, method: string): string => `${product} ${method}`;

async function readMethods(usage: UsageReader, query: UsageQuery): Promise<Map<string, MethodCounts>> {
  const methods = new Map<string, MethodCounts>();
  const addRow = (row: UsageSum<'product' | 'method' | 'status'>): void => {
    const { product, method, status, requests, bytes_out } = row;
    // A row without requests counts only messages.
    if (requests === 0) return;
    const name = nameOf(product, method);
    const one = methods.get(name) ?? { method, product, requests: 0, errors: 0, bytes: 0 };
    one.requests += requests;
    if (status !== 'ok') one.errors += requests;
    one.bytes += bytes_out;
    methods.set(name, one);
  };
  await usage.readSums(query, ['product', 'method', 'status'], addRow, null);
  return methods;
}

async function readLatencies(usage: UsageReader, query: UsageQuery) {
  const steps = Array.from({ length: lengthOf(query.axis) }, emptyLatencyHistogram);
  const methods = new Map<string, Float64Array>();
  await usage.readLatencies(query, { column: 'method' }, ({ at, product, name: method, latency }) => {
    const name = nameOf(product, method);
    const sum = methods.get(name) ?? emptyLatencyHistogram();
    methods.set(name, sum);
    addLatency(sum, latency);
    const step = steps[at];
    if (step !== undefined) addLatency(step, latency);
  });
  return { steps, methods };
}

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

const usagePerformance =
  (services: ApiServices): Handler<typeof PERFORMANCE_ROUTE> =>
  async ({ path: { customer }, query }) => {
    const { store, now } = services;
    const reader = usageReaderOf(services);
    const at = now();
    const usage = await usageQueryOf(store, customer, query, at);
    const { steps, methods } = await readLatencies(reader, usage);
    const series = (share: number) => steps.map((step) => percentile(step, share));
    const methodCounts = [...(await readMethods(reader, usage))].sort(
      ([, a], [, b]) => b.requests - a.requests,
    );
    return {
      axis: toAxisJson(usage.axis),
      series: { p50: series(0.5), p95: series(0.95), p99: series(0.99) },
      methods: methodCounts.map(([name, { bytes, ...one }]) => ({
        ...one,
        averageBytes: Math.round(bytes / one.requests),
        latency: percentilesOf(methods.get(name) ?? []),
      })),
      heat: heatOf(usage.axis, steps),
      updatedAt: await usageUpdatedAt(store, at),
    };
  };

function usualPrices(endpoints: ApiServices['endpoints']): Map<string, number> {
  return new Map([
    ...Object.entries(methods).map(([method, { credits }]) => [method, credits] as const),
    ...Object.values(subscriptions).map(({ subscribe, credits }) => [subscribe, credits] as const),
    ...Object.entries(grpcCalls),
    ...endpoints.map(({ name, credits }) => [name, credits] as const),
  ]);
}

async function planOf({ db }: Store, customerId: string) {
  const plan = await db
    .selectFrom('customer')
    .innerJoin('plan', 'plan.id', 'customer.plan_id')
    .select(['plan.prices', 'plan.stream_credits'])
    .where('customer.id', '=', customerId)
    .executeTakeFirst();
  if (plan === undefined) throw notFound('customer: there is no such customer');
  return plan;
}

/** Quotas, and credits by day, of the calendar month (UTC). */
export async function readMonth(store: Store, customer: string, nowMs: number) {
  const days = await creditsByDay(store, { customerId: customer }, nowMs);
  const { from } = monthRange(nowMs);
  return {
    quotas: await quotasOf(store, customer, nowMs),
    days: days.map((credits, day) => ({ day: from + day * stepMs.day, credits })),
  };
}

const usageQuota =
  ({ store, now, endpoints }: ApiServices): Handler<'GET /customers/{customer}/quota'> =>
  async ({ path: { customer } }) => {
    const at = now();
    const plan = await planOf(store, customer);
    const own = JSON.parse(plan.prices) as Record<string, number>;
    const prices = new Map([...usualPrices(endpoints), ...Object.entries(own)]);
    return {
      ...(await readMonth(store, customer, at)),
      prices: [...prices].map(([method, credits]) => ({ method, credits })),
      streamCredits: plan.stream_credits,
    };
  };

const ERRORS_ROUTE = 'GET /customers/{customer}/errors';
type Errors = RouteOutput<typeof ERRORS_ROUTE>;

const CODES_MAX = 50;

/** null for errors of nodes and of gRPC services, which have texts of their own. */
const rowOfFailure = (code: string) => (Object.hasOwn(failures, code) ? failures[code as FailureCode] : null);

/** The counts do not depend on the log, which only has examples. */
async function readCodes(
  services: ApiServices,
  customer: string,
  filter: FailureFilter,
  counts: ReadonlyMap<string, number>,
): Promise<Errors['codes']> {
  const largest = [...counts].sort(([, a], [, b]) => b - a).slice(0, CODES_MAX);
  const codes = largest.map(([code]) => code);
  const examples = await logStoreOf(services).findExamples(customer, filter, codes).catch(noneIfUnavailable);
  return largest.map(([code, requests]) => {
    const { id: example = null, message = null } = examples.get(code) ?? {};
    const { text = message, rpc = Number(code) || null } = rowOfFailure(code) ?? {};
    return { code, rpcCode: rpc, text, requests, example };
  });
}

const ROWS_MAX = 200;

async function readStatuses(usage: UsageReader, query: UsageQuery): Promise<Errors['byStatus']> {
  const byStatus = noStatuses(query.axis);
  await usage.readSums(query, ['status'], ({ at, status, requests }) => {
    addAt(byStatus[status], at, requests);
  });
  return byStatus;
}

const failedColumns = ['status', 'code', 'method', 'product', 'key_id'] as const;

/** Failed requests by outcome, method and key, and by error code. */
async function readFailed(store: Store, usage: UsageReader, query: UsageQuery) {
  const found = new Map<string, Errors['rows'][number]>();
  const counts = new Map<string, number>();
  const failed = { ...query, filter: { ...query.filter, failed: true } };
  const add = (sum: UsageSum<(typeof failedColumns)[number]>): void => {
    const { status, method, product, key_id: key, requests } = sum;
    if (requests === 0) return;
    const code = sum.code === '' ? OTHER_CODE : sum.code;
    counts.set(code, (counts.get(code) ?? 0) + requests);
    const name = `${status} ${method} ${product} ${key}`;
    const row = found.get(name) ?? { status, method, product, key, keyName: null, requests: 0, lastAt: 0 };
    row.requests += requests;
    row.lastAt = Math.max(row.lastAt, sum.last_minute * stepMs.minute);
    found.set(name, row);
  };
  await usage.readSums(failed, failedColumns, add, null);
  const rows = [...found.values()].sort((a, b) => b.requests - a.requests).slice(0, ROWS_MAX);
  const names = await keyNames(
    store,
    rows.map(({ key }) => key),
  );
  return { rows: rows.map((row) => ({ ...row, keyName: names.get(row.key) ?? null })), counts };
}

function noneIfUnavailable(error: unknown): ReadonlyMap<string, FailureExample> {
  if (error instanceof ApiError && error.status === 503) return new Map();
  throw error;
}

const usageErrors =
  (services: ApiServices): Handler<typeof ERRORS_ROUTE> =>
  async ({ path: { customer }, query }) => {
    const { store } = services;
    const reader = usageReaderOf(services);
    const at = services.now();
    const usage = await usageQueryOf(store, customer, query, at);
    const axis = toAxisJson(usage.axis);
    const { rows, counts } = await readFailed(store, reader, usage);
    const filter = { ...usage.filter, from: axis.from, to: axis.to };
    return {
      axis,
      byStatus: await readStatuses(reader, usage),
      rows,
      codes: await readCodes(services, customer, filter, counts),
      updatedAt: await usageUpdatedAt(store, at),
    };
  };

export const usageHandlers = (services: ApiServices) =>
  defineHandlers({
    ...usageSummaryHandlers(services),
    ...usageTopHandlers(services),
    'GET /customers/{customer}/usage': usageSeries(services),
    'GET /customers/{customer}/usage.csv': usageCsv(services),
    'GET /customers/{customer}/quota': usageQuota(services),
    'GET /customers/{customer}/performance': usagePerformance(services),
    'GET /customers/{customer}/errors': usageErrors(services),
    async 'GET /checks'() {
      const rows = await services.store.db.selectFrom('usage_check').selectAll().orderBy('name').execute();
      return { checks: rows.map(({ ran_at, ...check }) => ({ ...check, ranAt: ran_at })) };
    },
  });
