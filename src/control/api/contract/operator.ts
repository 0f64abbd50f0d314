import { z } from 'zod';
import { customerStates } from '../../accounts/roles.ts';
import { customer } from './accounts.ts';
import { addedNodeView } from './nodes.ts';
import type { Route, RouteName } from './route.ts';
import {
  adminToken,
  auditEntry,
  auditFilter,
  count,
  done,
  email,
  expiry,
  name,
  network,
  pageOf,
  pageQuery,
  rangeQuery,
  revokedToken,
  sortBy,
  time,
  withMade,
} from './values.ts';

/** A node as seen by one gateway, without its URL and secrets. */
const nodeView = z.object({
  gateway: z.string(),
  name: z.string(),
  network,
  /** For example `healthy`, `lagging`, `failing` or `cordoned`; `reason` explains the state. */
  state: z.string(),
  reason: z.string().nullable(),
  cordoned: z.boolean(),
  /** The node receives no calls, even if no other node is left. */
  drained: z.boolean(),
  /** `file`: defined in the configuration file; `added`: added at run time; `ledger`: the embedded ledger. */
  source: z.enum(['file', 'added', 'ledger']),
  hasWs: z.boolean(),
  hasGrpc: z.boolean(),
  slot: z.string().nullable(),
  lagSlots: z.string().nullable(),
  latencyMs: z.number().nullable(),
  inFlight: count,
  /** Consecutive failures. */
  failuresInRow: count,
  /** Milliseconds since the node's last response; null if it has never responded. */
  silentMs: z.number().nullable(),
  /** Gateways that run an older version omit this and all following fields. */
  confirmedSlot: z.string().nullish(),
  finalizedSlot: z.string().nullish(),
  unreplayedSlots: z.string().nullish(),
  firstAvailableBlock: z.string().nullish(),
  /** Methods that this node could not answer but another node could. */
  lacks: z.array(z.string()).optional(),
  recentCalls: count.optional(),
  failedShare: z.number().nullish(),
  throttledShare: z.number().nullish(),
  p70Ms: z.number().nullish(),
  priority: count.optional(),
  weight: count.optional(),
  /** Methods that the node serves by name, prefix or `*`; null: every method that no other node lists. */
  methods: z.array(z.string()).nullish(),
  requestsPerSecond: z.number().nullish(),
  requestsLeft: z.number().nullish(),
  hedges: count.optional(),
  /** Recovery probes: calls mirrored to the node to test whether it has recovered. */
  copies: count.optional(),
});
export type NodeJson = z.infer<typeof nodeView>;

const customerRow = customer.extend({
  members: count,
  keys: count,
  creditsUsed: count,
  /** Time of the last change of the plan, and the plan before; null: nothing to undo. */
  planUndo: z.object({ planId: z.string(), at: time }).nullable(),
});

const check = z.object({
  name: z.string(),
  ranAt: time,
  /** Number of rows that fail the check. */
  violations: count,
  example: z.string().nullable(),
});

export const operatorRoutes = {
  'GET /upstreams': {
    access: 'operator',
    summary: 'List upstream nodes as seen by each gateway',
    result: z.object({
      nodes: z.array(nodeView),
      gateways: z.array(
        z.object({ id: z.string(), host: z.string(), version: z.string(), startedAt: time, seenAt: time }),
      ),
      /** All added nodes, including those that no gateway reports. */
      added: z.array(addedNodeView),
    }),
  },
  'POST /upstreams/{node}/cordon': {
    access: 'operator',
    summary: 'Cordon a node in every gateway until it is uncordoned',
    body: z.object({ network, reason: z.string().max(200).default('') }),
    result: done,
  },
  'POST /upstreams/{node}/uncordon': {
    access: 'operator',
    summary: 'Uncordon a node that was cordoned or drained',
    body: z.object({ network }),
    result: done,
  },
  'GET /customers': {
    access: 'operator',
    summary: 'List all customers',
    query: pageQuery.extend({
      /** Only customers whose name contains this text, or with that customer id, key id or member email. */
      search: z.string().max(254).optional(),
      state: z.enum(customerStates).optional(),
      plan: z.string().max(32).optional(),
      sort: sortBy('name', 'createdAt'),
    }),
    result: pageOf(customerRow),
  },
  'POST /operators/invitations': {
    access: 'operator',
    summary: 'Invite an operator. Only this response contains the link',
    body: z.object({ email }),
    result: z.object({ link: z.string() }),
  },
  'GET /audit': {
    access: 'operator',
    summary: 'List audit log entries of all customers, newest first',
    query: pageQuery
      .extend(rangeQuery.shape)
      .extend({ customer: z.string().max(64).optional(), ...auditFilter }),
    result: pageOf(auditEntry),
  },
  'GET /audit.jsonl': {
    access: 'operator',
    summary: 'Export audit log entries of all customers as JSON Lines, oldest first',
    query: rangeQuery,
    format: 'jsonl',
  },
  'GET /checks': {
    access: 'operator',
    summary: 'List the latest results of the hourly consistency checks of usage data',
    result: z.object({ checks: z.array(check) }),
  },
  'GET /settings': {
    access: 'operator',
    summary: 'Show the effective configuration without secrets',
    result: z.object({ configuration: z.record(z.string(), z.unknown()), file: z.string().nullable() }),
  },
  'GET /tokens': {
    access: 'operator',
    summary: 'List operator tokens of the control API',
    result: z.object({ tokens: z.array(adminToken) }),
  },
  'POST /tokens': {
    access: 'operator',
    summary: 'Create an operator token. Only this response contains the secret',
    body: z.object({ name, expiresAt: expiry.default(null) }),
    result: z.object({ secret: z.string(), token: adminToken }),
  },
  'DELETE /tokens/{token}': {
    access: 'operator',
    summary: 'Revoke an operator token; with `withMade`, also what it issued',
    query: withMade,
    result: revokedToken,
  },
  'GET /methods': {
    access: 'anybody',
    summary:
      'List JSON-RPC methods, subscriptions, REST endpoints and gRPC streams with prices, for the playground',
    result: z.object({
      methods: z.array(
        z.object({
          name: z.string(),
          kind: z.enum(['rpc', 'rest', 'websocket', 'grpc']),
          /** Parameters in JSON; for REST, the verb and the query or the body; for gRPC, the request. */
          credits: count,
          example: z.string(),
          path: z.string().nullable(),
        }),
      ),
    }),
  },
} as const satisfies Record<RouteName, Route>;
