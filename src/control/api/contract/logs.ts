import { z } from 'zod';
import { submissionStatuses } from '../../../protocol/submission-result.ts';
import type { Route, RouteName } from './route.ts';
import { count, network, pageOf, pageQuery, product, rangeQuery, time, usageStatus } from './values.ts';

/** A step of a request. Times are milliseconds since the start of the request. */
const step = z.object({
  /** `authenticate`, `limit`, `queue`, `upstream`, or what served the call: `cache`, `shared`, `heads`, `store`. */
  name: z.string(),
  /** null for callers who are not operators. */
  node: z.string().nullable(),
  startMs: z.number(),
  endMs: z.number(),
  /** `ok`, or a short text such as `timed out` or `HTTP 503`. */
  outcome: z.string(),
});

const logEntry = z.object({
  id: z.string(),
  at: time,
  keyId: z.string().nullable(),
  keyName: z.string().nullable(),
  product,
  network: network.nullable(),
  method: z.string(),
  status: usageStatus,
  /** HTTP status; 0: another transport. */
  http: z.number().int(),
  /** JSON-RPC error code; 0: none. */
  rpcCode: z.number().int(),
  /** Failure code of this service, or gRPC status. */
  failure: z.string().nullable(),
  /** Error message of the node or of this service; null for successful requests. */
  message: z.string().nullable(),
  /** The party responsible for the error; null for successful requests. */
  owner: z.enum(['client', 'gateway', 'capacity', 'upstream', 'node']).nullable(),
  /** Signature of the transaction that the request sent, simulated or looked up. */
  signature: z.string().nullable(),
  ms: z.number(),
  bytesIn: count,
  bytesOut: count,
  /** The node that sent the result or the error; null for callers who are not operators. */
  node: z.string().nullable(),
  address: z.string(),
  origin: z.string().nullable(),
  gateway: z.string(),
});
export type LogEntryJson = z.infer<typeof logEntry>;

const logDetail = logEntry.extend({
  steps: z.array(step),
  /** Beginning of the parameters and result, without credentials; null unless the key enables `logsBodies`. */
  params: z.string().nullable(),
  result: z.string().nullable(),
});

/** The filter accepts only 32-bit codes, although the log also stores larger codes. */
const RPC_CODE_MAX = 2 ** 31 - 1;
const MIN_MS_MAX = 86_400_000;

const logFilter = rangeQuery.extend({
  key: z.string().length(8).optional(),
  method: z.string().max(64).optional(),
  product: product.optional(),
  status: usageStatus.optional(),
  /** Failure code, gRPC status or JSON-RPC error code, such as `RATE_LIMITED` or `-32602`. */
  code: z.string().max(64).optional(),
  rpcCode: z.coerce.number().int().min(-RPC_CODE_MAX).max(RPC_CODE_MAX).optional(),
  minMs: z.coerce.number().min(0).max(MIN_MS_MAX).optional(),
  address: z.string().max(45).optional(),
  /** Request id, or words that the entry contains: codes, a signature, words of the error message. */
  search: z.string().max(256).optional(),
});

const connection = z.object({
  id: z.string(),
  kind: z.enum(['websocket', 'grpc']),
  rpc: z.string().nullable(),
  keyId: z.string(),
  keyName: z.string().nullable(),
  gateway: z.string(),
  address: z.string(),
  since: time,
  subscriptions: count,
  /** Up to ten subscriptions with their targets; for gRPC, the number of filters of each kind. */
  about: z.array(z.string()),
  messagesPerSecond: z.number(),
  bytesPerSecond: z.number(),
  messages: count,
  bytes: count,
  queuedMessages: count,
  queuedBytes: count,
});
export type ConnectionJson = z.infer<typeof connection>;

/** `node` is null for callers who are not operators. */
const attempt = z.object({ node: z.string().nullable(), at: time, ms: z.number(), outcome: z.string() });

const submission = z.object({
  signature: z.string(),
  at: time,
  keyId: z.string(),
  keyName: z.string().nullable(),
  network,
  /** `accepted`, or the failure. */
  outcome: z.string(),
  /** Error message of the node or of this service; null for an accepted transaction. */
  message: z.string().nullable(),
  attempts: z.array(attempt),
  /** Number of rebroadcasts, each to all nodes; 0 until tracking ends. */
  rebroadcasts: count,
  /** Rebroadcast results by node and outcome, with the time and duration of the last rebroadcast. */
  again: z.array(attempt.extend({ times: count })),
  /** Final outcome of an accepted transaction; null: still tracked, or unknown. */
  fate: z
    .object({
      name: z.enum(submissionStatuses),
      slot: z.string().nullable(),
      err: z.string().nullable(),
    })
    .nullable(),
  /** Current on-chain status; null: not found, or the lookup failed. */
  status: z
    .object({
      slot: z.string(),
      confirmation: z.enum(['processed', 'confirmed', 'finalized']),
      err: z.string().nullable(),
    })
    .nullable(),
});

export const logRoutes = {
  'GET /customers/{customer}/logs': {
    access: 'viewer',
    summary: 'List logged requests, newest first',
    query: pageQuery.extend(logFilter.shape),
    result: pageOf(logEntry).extend({
      sampling: z.object({ share: z.number(), perSecond: count, keptHours: z.number() }),
    }),
  },
  'GET /customers/{customer}/logs/histogram': {
    access: 'viewer',
    summary: 'Count logged requests over time',
    query: logFilter,
    result: z.object({
      from: time,
      stepMs: count,
      counts: z.array(count),
      errors: z.array(count),
      /** Only the newest entries are counted: those since this time. */
      countedFrom: time,
    }),
  },
  'GET /customers/{customer}/logs/tail': {
    access: 'viewer',
    summary: 'Follow requests as server-sent events',
    query: logFilter,
    format: 'events',
  },
  'GET /customers/{customer}/logs/{entry}': {
    access: 'developer',
    summary: 'Show a logged request with its steps',
    result: logDetail,
  },
  'GET /unknown-methods': {
    access: 'operator',
    summary: 'Count requests for methods that no node supports, per method and hour',
    query: rangeQuery.extend({ customer: z.string().max(64).optional() }),
    result: z.object({
      /** Up to 200, most requests first. Names beyond 100 per customer and hour are counted as `other`. */
      methods: z.array(z.object({ method: z.string(), requests: count, customers: count, lastAt: time })),
    }),
  },
  'GET /customers/{customer}/connections': {
    access: 'viewer',
    summary: 'List open WebSocket connections and gRPC streams of all gateways',
    query: z.object({ key: z.string().length(8).optional() }),
    result: z.object({
      items: z.array(connection),
      totals: z.object({
        websocket: count,
        grpc: count,
        messagesPerSecond: z.number(),
        bytesPerSecond: z.number(),
      }),
      /** Connections closed because the client read too slowly. */
      laggedLastHour: count,
    }),
  },
  'GET /customers/{customer}/transactions': {
    access: 'viewer',
    summary: 'List submitted transactions, newest first, with all attempts',
    query: pageQuery.extend({
      signature: z.string().max(88).optional(),
      key: z.string().length(8).optional(),
    }),
    result: pageOf(submission),
  },
} as const satisfies Record<RouteName, Route>;
