import { z } from 'zod';
import { customerStates } from '../../accounts/roles.ts';
import { addedNodeView } from './nodes.ts';
import type { Route, RouteName } from './route.ts';
import {
  adminToken,
  auditEntry,
  count,
  done,
  email,
  endedToken,
  expiry,
  name,
  network,
  pageOf,
  pageQuery,
  rangeQuery,
  time,
  withMade,
} from './values.ts';

/** A node as one gateway sees it. Holds no URL and no secret. */
const nodeView = z.object({
  gateway: z.string(),
  name: z.string(),
  network,
  /** `healthy`, `lagging`, `failing`, `cordoned` … and why, in words. */
  state: z.string(),
  reason: z.string().nullable(),
  cordoned: z.boolean(),
  /** No call goes there, whatever becomes of the others; nothing is heard from it. */
  drained: z.boolean(),
  /** Who named it: the configuration, the operator while the service ran, or nobody: the embedded ledger. */
  source: z.enum(['file', 'added', 'ledger']),
  hasWs: z.boolean(),
  hasGrpc: z.boolean(),
  slot: z.string().nullable(),
  lagSlots: z.string().nullable(),
  latencyMs: z.number().nullable(),
  inFlight: count,
  failuresInRow: count,
  silentMs: z.number().nullable(),
  /** The newest slots that it told of; gateways of older versions do not tell of these and what follows. */
  confirmedSlot: z.string().nullish(),
  finalizedSlot: z.string().nullish(),
  /** Slots of which it has shreds that it has not replayed. */
  unreplayedSlots: z.string().nullish(),
  firstAvailableBlock: z.string().nullish(),
  /** Methods of which it lacks something that another node has. */
  lacks: z.array(z.string()).optional(),
  /** Of its calls in the last while: how many, which shares failed and were throttled, what most of them took. */
  recentCalls: count.optional(),
  failedShare: z.number().nullish(),
  throttledShare: z.number().nullish(),
  p70Ms: z.number().nullish(),
  /** What it may be asked a second, and what is left of it. */
  requestsPerSecond: z.number().nullish(),
  requestsLeft: z.number().nullish(),
  /** Calls that came to it because another node was late; copies of calls that it was tried with. */
  hedges: count.optional(),
  copies: count.optional(),
});
export type NodeJson = z.infer<typeof nodeView>;

const plan = z.object({
  id: z.string(),
  name: z.string(),
  limits: z.record(z.string(), z.union([z.number(), z.boolean(), z.record(z.string(), z.number())])),
  customers: count,
  keys: count,
});

const customerRow = z.object({
  id: z.string(),
  name: z.string(),
  planId: z.string(),
  state: z.enum(customerStates),
  createdAt: time,
  members: count,
  keys: count,
  creditsUsed: count,
});

const check = z.object({
  /** What must hold, as a sentence. */
  name: z.string(),
  ranAt: time,
  /** Rows that contradict it; all is well with none. */
  violations: count,
  example: z.string().nullable(),
});

export const operatorRoutes = {
  'GET /upstreams': {
    access: 'operator',
    summary: 'The nodes behind the service, as each gateway sees them',
    result: z.object({
      nodes: z.array(nodeView),
      gateways: z.array(
        z.object({ id: z.string(), host: z.string(), version: z.string(), startedAt: time, seenAt: time }),
      ),
      /** Those that were added while the service ran, also where no gateway has one of them. */
      added: z.array(addedNodeView),
    }),
  },
  'POST /upstreams/{node}/cordon': {
    access: 'operator',
    summary: 'Takes a node out of service in every gateway until it is uncordoned',
    body: z.object({ network, reason: z.string().max(200).default('') }),
    result: done,
  },
  'POST /upstreams/{node}/uncordon': {
    access: 'operator',
    summary: 'Puts a node back into service that was cordoned or drained',
    body: z.object({ network }),
    result: done,
  },
  'GET /plans': {
    access: 'operator',
    summary: 'Plans with their limits and prices, and who has them; they are made in the configuration',
    result: z.object({ plans: z.array(plan) }),
  },
  'GET /customers': {
    access: 'operator',
    summary: 'All customers',
    query: pageQuery.extend({ search: z.string().max(64).optional() }),
    result: pageOf(customerRow),
  },
  'POST /operators/invitations': {
    access: 'operator',
    summary: 'Invites another operator. The link is in this answer and nowhere else',
    body: z.object({ email }),
    result: z.object({ link: z.string() }),
  },
  'GET /audit': {
    access: 'operator',
    summary: 'What was changed anywhere, the newest first',
    query: pageQuery
      .extend(rangeQuery.shape)
      .extend({ customer: z.string().max(64).optional(), action: z.string().max(64).optional() }),
    result: pageOf(auditEntry.extend({ customerId: z.string().nullable() })),
  },
  'GET /audit.jsonl': {
    access: 'operator',
    summary: 'The same as lines of JSON, the oldest first',
    query: rangeQuery,
    format: 'jsonl',
  },
  'GET /checks': {
    access: 'operator',
    summary: 'The hourly checks of the books, and what contradicts them',
    result: z.object({ checks: z.array(check) }),
  },
  'GET /settings': {
    access: 'operator',
    summary: 'The configuration that is in force, without its secrets',
    result: z.object({ configuration: z.record(z.string(), z.unknown()), file: z.string().nullable() }),
  },
  'GET /tokens': {
    access: 'operator',
    summary: 'Tokens with which programs use this API as the operator',
    result: z.object({ tokens: z.array(adminToken) }),
  },
  'POST /tokens': {
    access: 'operator',
    summary: "Makes an operator's token. Its secret is in this answer and nowhere else",
    body: z.object({ name, expiresAt: expiry.default(null) }),
    result: z.object({ secret: z.string(), token: adminToken }),
  },
  'DELETE /tokens/{token}': {
    access: 'operator',
    summary: "Ends an operator's token; `withMade` as with a customer's",
    query: withMade,
    result: endedToken,
  },
  'GET /methods': {
    access: 'anybody',
    summary: 'JSON-RPC methods, subscriptions and REST endpoints with their credits, for the playground',
    result: z.object({
      methods: z.array(
        z.object({
          name: z.string(),
          kind: z.enum(['rpc', 'rest']),
          credits: count,
          example: z.string(),
          path: z.string().nullable(),
        }),
      ),
    }),
  },
} as const satisfies Record<RouteName, Route>;
