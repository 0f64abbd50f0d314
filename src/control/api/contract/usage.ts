import { z } from 'zod';
import type { Route, RouteName } from './route.ts';
import { count, network, product, rangeQuery, time, usageStatus } from './values.ts';

const totals = z.object({
  requests: count,
  ok: count,
  credits: count,
  bytesIn: count,
  bytesOut: count,
  messages: count,
});
export type TotalsJson = z.infer<typeof totals>;

/** Milliseconds; null without measurements. */
const latency = z.object({
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
  max: z.number().nullable(),
});
export type LatencyJson = z.infer<typeof latency>;

const stepMs = z.union([z.literal(60_000), z.literal(3_600_000), z.literal(86_400_000)]);

const axis = z.object({ from: time, to: time, stepMs });

const usageFilter = rangeQuery.extend({
  key: z.string().length(8).optional(),
  product: product.optional(),
  method: z.string().max(64).optional(),
});

const percentileSeries = z.object({
  p50: z.array(z.number().nullable()),
  p95: z.array(z.number().nullable()),
  p99: z.array(z.number().nullable()),
});

const topSorts = ['requests', 'errors', 'credits', 'p95'] as const;
export type TopSort = (typeof topSorts)[number];

const allCustomersFilter = rangeQuery.extend({
  method: z.string().max(64).optional(),
  network: network.optional(),
  /** Only requests that failed with this error code. Attempts of nodes have none. */
  code: z.string().max(64).optional(),
});

const topQuery = allCustomersFilter.extend({
  product: product.optional(),
  /** The column by which the list is sorted, largest first. */
  sort: z.enum(topSorts).default('requests'),
  limit: z.coerce.number().int().min(1).max(200).default(20),
});

const topList = z.object({
  axis,
  rows: z.array(
    z.object({
      /** Id of the customer, key or process run, or the name of the method, network, node or error code. */
      name: z.string(),
      label: z.string(),
      /** Customer of a key; null for other rows. */
      customer: z.object({ id: z.string(), name: z.string() }).nullable(),
      /** For a node, attempts. */
      requests: count,
      errors: count,
      /** null: nodes have no credits. */
      credits: count.nullable(),
      latency,
    }),
  ),
  /** Whether a larger `limit` returns more rows. */
  hasMore: z.boolean(),
  updatedAt: time,
});

export const quota = z.object({
  planId: z.string(),
  planName: z.string(),
  /** null: no quota. */
  limit: count.nullable(),
  isHard: z.boolean(),
  used: count,
  /** Start and end of the calendar month (UTC). */
  periodFrom: time,
  periodTo: time,
  /** Projected credits for the whole month; null: too little history. */
  projected: count.nullable(),
  /** Projected time at which the quota is used up; null: not this month, or too little history. */
  exhaustedAt: time.nullable(),
});
export type QuotaJson = z.infer<typeof quota>;

export const creditsByDay = z.array(z.object({ day: time, credits: count }));

export const usageSeries = z.object({
  axis,
  /** Largest first. Series beyond the first 20 are combined as `other`. */
  series: z.array(
    z.object({
      /** If grouped by key, the key id. */
      name: z.string(),
      label: z.string(),
      totals,
      requests: z.array(count),
      credits: z.array(count),
      bytes: z.array(count),
    }),
  ),
  totals,
  updatedAt: time,
});

export const usageRoutes = {
  'GET /customers/{customer}/summary': {
    access: 'viewer',
    summary:
      'Usage summary: totals compared with the previous period, series by outcome, errors, quota, open connections',
    query: rangeQuery,
    result: z.object({
      axis,
      now: totals.extend({ latency }),
      before: totals.extend({ latency }),
      /** Rejected requests without a known key among them, which count for the built-in customer. */
      withoutKey: z.object({ now: count, before: count }),
      byStatus: z.record(usageStatus, z.array(count)),
      p95: z.array(z.number().nullable()),
      credits: z.array(count),
      quotas: z.array(quota),
      connections: z.object({ websocket: count, grpc: count }),
      /** Whether any call has succeeded. Until then, the Home page shows the first steps. */
      hasSucceeded: z.boolean(),
      updatedAt: time,
    }),
  },
  'GET /customers/{customer}/usage': {
    access: 'viewer',
    summary: 'Show usage over time, in total or by one dimension',
    query: usageFilter.extend({ by: z.enum(['none', 'product', 'key', 'method', 'status']).default('none') }),
    result: usageSeries,
  },
  'GET /customers/{customer}/usage.csv': {
    access: 'viewer',
    summary: 'Export usage as CSV rows by step, key, product, method and status',
    query: usageFilter,
    format: 'csv',
  },
  'GET /customers/{customer}/quota': {
    access: 'viewer',
    summary: 'Show quotas, credits by day of the month, and prices',
    result: z.object({
      quotas: z.array(quota),
      days: creditsByDay,
      prices: z.array(z.object({ method: z.string(), credits: count })),
      streamCredits: count,
    }),
  },
  'GET /customers/{customer}/performance': {
    access: 'viewer',
    summary: 'Show latency over time and by method',
    query: usageFilter,
    result: z.object({
      axis,
      series: percentileSeries,
      methods: z.array(
        z.object({
          method: z.string(),
          product,
          requests: count,
          errors: count,
          averageBytes: count,
          latency,
        }),
      ),
      /** Call counts by step (column) and latency (row); `boundsMs` are the upper bounds of the rows. */
      heat: z.object({ boundsMs: z.array(z.number()), counts: z.array(z.array(count)) }),
      updatedAt: time,
    }),
  },
  'GET /customers/{customer}/errors': {
    access: 'viewer',
    summary: 'Show failed requests by outcome, method and key',
    query: usageFilter,
    result: z.object({
      axis,
      byStatus: z.record(usageStatus, z.array(count)),
      rows: z.array(
        z.object({
          status: usageStatus,
          method: z.string(),
          product,
          key: z.string(),
          keyName: z.string().nullable(),
          requests: count,
          lastAt: time,
        }),
      ),
      /** Counts all requests. JSON-RPC codes of nodes beyond 100 in a minute are counted as `other`. */
      codes: z.array(
        z.object({
          code: z.string(),
          rpcCode: z.number().int().nullable(),
          text: z.string().nullable(),
          requests: count,
          /** Id of an entry in the request log, which is sampled; null: none. */
          example: z.string().nullable(),
        }),
      ),
      updatedAt: time,
    }),
  },
  'GET /customers/{customer}/usage/top': {
    access: 'viewer',
    summary: 'List the largest keys, methods, networks or error codes',
    query: topQuery.extend({ by: z.enum(['key', 'method', 'network', 'code']) }),
    result: topList,
  },
  'GET /usage/summary': {
    access: 'operator',
    summary:
      'Usage summary of all customers: totals compared with the previous period, outcomes, latency, credits',
    query: allCustomersFilter,
    result: z.object({
      axis,
      now: totals.extend({ latency }),
      before: totals.extend({ latency }),
      byStatus: z.record(usageStatus, z.array(count)),
      latency: percentileSeries,
      credits: z.array(count),
      updatedAt: time,
    }),
  },
  'GET /usage/top': {
    access: 'operator',
    summary: 'List the largest customers, keys, methods, networks, gateways, nodes or error codes',
    query: topQuery.extend({
      by: z.enum(['customer', 'key', 'method', 'network', 'gateway', 'node', 'code']),
    }),
    result: topList,
  },
} as const satisfies Record<RouteName, Route>;
