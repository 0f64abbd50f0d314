import { z } from 'zod';
import type { Route, RouteName } from './route.ts';
import { count, product, rangeQuery, time, usageStatus } from './values.ts';

/** What is counted, for charts and tables. */
const totals = z.object({
  requests: count,
  /** Requests that gave a result: no failure and no JSON-RPC error. */
  ok: count,
  credits: count,
  bytesIn: count,
  bytesOut: count,
  messages: count,
});
export type TotalsJson = z.infer<typeof totals>;

/** Milliseconds; null where nothing was measured. */
const latency = z.object({
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
  max: z.number().nullable(),
});

const stepMs = z.union([z.literal(60_000), z.literal(3_600_000), z.literal(86_400_000)]);

/** Equal steps of time from `from`; each list has one value per step. */
const axis = z.object({ from: time, to: time, stepMs });

const usageFilter = rangeQuery.extend({
  key: z.string().length(8).optional(),
  product: product.optional(),
  method: z.string().max(64).optional(),
});

/** Where a customer's quota stands, for one plan of its keys. */
const quota = z.object({
  planId: z.string(),
  planName: z.string(),
  /** null: no quota. */
  limit: count.nullable(),
  isHard: z.boolean(),
  used: count,
  /** The calendar month in UTC. */
  periodFrom: time,
  periodTo: time,
  /** Credits of the whole month, if it goes on as in the last days; null while there is too little to tell. */
  projected: count.nullable(),
  /** When it will be used up at that pace; null: not in this month. */
  exhaustedAt: time.nullable(),
});
export type QuotaJson = z.infer<typeof quota>;

export const usageRoutes = {
  'GET /customers/{customer}/summary': {
    access: 'viewer',
    summary:
      'What Home shows: totals against the stretch before, series by outcome, errors, quota, open connections',
    query: rangeQuery,
    result: z.object({
      axis,
      now: totals.extend({ latency }),
      before: totals.extend({ latency }),
      /** Requests per step and outcome. */
      byStatus: z.record(usageStatus, z.array(count)),
      /** 95th percentile per step, in milliseconds. */
      p95: z.array(z.number().nullable()),
      credits: z.array(count),
      quotas: z.array(quota),
      connections: z.object({ websocket: count, grpc: count }),
      /** Whether any key ever had a call that gave a result: until then Home shows how to begin. */
      hasSucceeded: z.boolean(),
      /** When the newest of these numbers was written. */
      updatedAt: time,
    }),
  },
  'GET /customers/{customer}/usage': {
    access: 'viewer',
    summary: 'Series of what was used, whole or parted by one thing',
    query: usageFilter.extend({ by: z.enum(['none', 'product', 'key', 'method', 'status']).default('none') }),
    result: z.object({
      axis,
      /** The largest first; what goes beyond 20 is joined as `other`. */
      series: z.array(
        z.object({
          /** Of a key its id. */
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
    }),
  },
  'GET /customers/{customer}/usage.csv': {
    access: 'viewer',
    summary: 'The same stretch as rows: step, key, product, method, status and what was counted',
    query: usageFilter,
    format: 'csv',
  },
  'GET /customers/{customer}/quota': {
    access: 'viewer',
    summary: 'Where the quotas stand, and the credits of each day of the month',
    result: z.object({
      quotas: z.array(quota),
      days: z.array(z.object({ day: time, credits: count })),
      prices: z.array(z.object({ method: z.string(), credits: count })),
      streamCredits: count,
    }),
  },
  'GET /customers/{customer}/performance': {
    access: 'viewer',
    summary: 'How long calls took, over time and by method',
    query: usageFilter,
    result: z.object({
      axis,
      series: z.object({
        p50: z.array(z.number().nullable()),
        p95: z.array(z.number().nullable()),
        p99: z.array(z.number().nullable()),
      }),
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
      /** Counts of calls by step (columns) and latency (rows), for a heat map. `boundsMs` are the rows' upper ends. */
      heat: z.object({ boundsMs: z.array(z.number()), counts: z.array(z.array(count)) }),
      updatedAt: time,
    }),
  },
  'GET /customers/{customer}/errors': {
    access: 'viewer',
    summary: 'What did not give a result, by outcome, method and key',
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
          requests: count,
          lastAt: time,
        }),
      ),
      /** Codes with their texts, from the request log; only as many as it kept. */
      codes: z.array(
        z.object({
          code: z.string(),
          rpcCode: z.number().int().nullable(),
          text: z.string(),
          count,
          example: z.string(),
        }),
      ),
      updatedAt: time,
    }),
  },
} as const satisfies Record<RouteName, Route>;
