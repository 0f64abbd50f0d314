import { z } from 'zod';
import { submissionStatuses } from '../../../protocol/submission-result.ts';
import type { Route, RouteName } from './route.ts';
import { count, network, pageOf, pageQuery, product, rangeQuery, time, usageStatus } from './values.ts';

/** A step of a request's way, for the waterfall. Milliseconds since the request was there. */
const step = z.object({
  /** `authenticate`, `limit`, `queue`, `cache`, or `upstream`. */
  name: z.string(),
  /** The node, of an upstream attempt. */
  node: z.string().nullable(),
  startMs: z.number(),
  endMs: z.number(),
  /** `ok`, or what it came to in a few words: `timed out`, `refused the connection`, `HTTP 503`. */
  outcome: z.string(),
});

export const logEntry = z.object({
  id: z.string(),
  at: time,
  keyId: z.string().nullable(),
  keyName: z.string().nullable(),
  product,
  network: network.nullable(),
  method: z.string(),
  status: usageStatus,
  /** HTTP status, or 0 on other wires. */
  http: z.number().int(),
  /** The JSON-RPC error code; 0 for none. */
  rpcCode: z.number().int(),
  /** The code of our table of failures, such as RATE_LIMITED. */
  failure: z.string().nullable(),
  ms: z.number(),
  bytesIn: count,
  bytesOut: count,
  /** The node that answered. */
  node: z.string().nullable(),
  address: z.string(),
  origin: z.string().nullable(),
  /** Which gateway it met. */
  gateway: z.string(),
});
export type LogEntryJson = z.infer<typeof logEntry>;

const logDetail = logEntry.extend({
  steps: z.array(step),
  /** The start of parameters and of the result, of keys that allow it; never a credential. */
  params: z.string().nullable(),
  result: z.string().nullable(),
});

/** Codes are kept in 32 bits, and a request that takes a day is not found by its time. */
const RPC_CODE_MAX = 2 ** 31 - 1;
const MIN_MS_MAX = 86_400_000;

const logFilter = rangeQuery.extend({
  key: z.string().length(8).optional(),
  method: z.string().max(64).optional(),
  product: product.optional(),
  status: usageStatus.optional(),
  rpcCode: z.coerce.number().int().min(-RPC_CODE_MAX).max(RPC_CODE_MAX).optional(),
  minMs: z.coerce.number().min(0).max(MIN_MS_MAX).optional(),
  address: z.string().max(45).optional(),
});

/** An open socket or stream. */
const connection = z.object({
  id: z.string(),
  kind: z.enum(['websocket', 'grpc']),
  rpc: z.string().nullable(),
  keyId: z.string(),
  keyName: z.string().nullable(),
  gateway: z.string(),
  address: z.string(),
  since: time,
  /** Subscriptions of a socket, filters of a stream. */
  subscriptions: count,
  /** What it is subscribed to, in words of the wire, at most ten. */
  about: z.array(z.string()),
  messagesPerSecond: z.number(),
  bytesPerSecond: z.number(),
  messages: count,
  bytes: count,
  /** Bytes and messages that wait because the client reads slowly. */
  queuedMessages: count,
  queuedBytes: count,
});
export type ConnectionJson = z.infer<typeof connection>;

/** One time that a transaction was handed to a node. */
const attempt = z.object({ node: z.string(), at: time, ms: z.number(), outcome: z.string() });

const submission = z.object({
  signature: z.string(),
  at: time,
  keyId: z.string(),
  network,
  /** `accepted`, or the failure. */
  outcome: z.string(),
  /** Of the first time that it was handed over. */
  attempts: z.array(attempt),
  /** How often it was sent to all nodes again after that; known when it is followed no more. */
  rebroadcasts: count,
  /** What each node said to that, how often, and time and length of the last. */
  again: z.array(attempt.extend({ times: count })),
  /** What became of one that was accepted, as it was followed; null: it still is, or was not to its end. */
  fate: z
    .object({
      name: z.enum(submissionStatuses),
      /** Where it landed. */
      slot: z.string().nullable(),
      /** The chain's error, of one that failed there. */
      err: z.string().nullable(),
    })
    .nullable(),
  /** From the chain as it is now; null: not found there. */
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
    summary: 'Requests that the log kept, the newest first, with how many there were per step of time',
    query: pageQuery.extend(logFilter.shape),
    result: pageOf(logEntry).extend({
      histogram: z.object({ from: time, stepMs: count, counts: z.array(count), errors: z.array(count) }),
      /** What share of requests is kept and for how long; said on the page. */
      sampling: z.object({ share: z.number(), perSecond: count, keptHours: z.number() }),
    }),
  },
  'GET /customers/{customer}/logs/tail': {
    access: 'viewer',
    summary: 'Requests as they come, as server-sent events',
    query: logFilter,
    format: 'events',
  },
  'GET /customers/{customer}/logs/{entry}': {
    access: 'developer',
    summary: 'One request with the steps of its way',
    result: logDetail,
  },
  'GET /customers/{customer}/connections': {
    access: 'viewer',
    summary: 'Open WebSockets and gRPC streams of all gateways',
    query: z.object({ key: z.string().length(8).optional() }),
    result: z.object({
      items: z.array(connection),
      totals: z.object({
        websocket: count,
        grpc: count,
        messagesPerSecond: z.number(),
        bytesPerSecond: z.number(),
      }),
      /** Streams and sockets that were cut lately because they read too slowly. */
      laggedLastHour: count,
    }),
  },
  'GET /customers/{customer}/transactions': {
    access: 'viewer',
    summary: 'Transactions that were sent with the keys, the newest first, with every attempt',
    query: pageQuery.extend({
      signature: z.string().max(88).optional(),
      key: z.string().length(8).optional(),
    }),
    result: pageOf(submission),
  },
} as const satisfies Record<RouteName, Route>;
