import { z } from 'zod';
import type { Route, RouteName } from './route.ts';
import { count, done, network, rangeQuery, time } from './values.ts';

const nodeName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must have 1 to 64 letters, digits, dots, dashes or underscores');
const address = z.string().max(4_096);

/** The configuration parser validates these settings in detail. */
const connectionSettings = {
  url: address,
  /** Absent: derived from `url`; "off": no PubSub. */
  ws: address.nullable().optional(),
  grpc: address.nullable().optional(),
  headers: z.record(z.string().max(128), z.string().max(8_192)).optional(),
  /** Other options of an `[[upstream]]` table, under the same names, e.g. `requests_per_second`. */
  options: z.record(z.string().max(64), z.unknown()).optional(),
};
const force = z.boolean().default(false);

const finding = z.object({ severity: z.enum(['error', 'warning']), finding: z.string(), remedy: z.string() });

/** Result of a probe. Unknown values are null. */
const nodeReport = z.object({
  reachable: z.boolean(),
  latencyMs: z.number().nullable(),
  version: z.string().nullable(),
  genesisHash: z.string().nullable(),
  healthy: z.boolean().nullable(),
  slot: z.string().nullable(),
  firstAvailableBlock: z.string().nullable(),
  findings: z.array(finding),
});
export type NodeReportJson = z.infer<typeof nodeReport>;

/** An added node. Omits addresses and headers, because they may contain credentials. */
export const addedNodeView = z.object({
  name: z.string(),
  network,
  hasWs: z.boolean(),
  hasGrpc: z.boolean(),
  /** null: the options cannot be decrypted. */
  options: z.record(z.string(), z.unknown()).nullable(),
  createdBy: z.string(),
  createdAt: count,
});

const acceptedNode = z.object({
  node: addedNodeView,
  /** null: accepted without a probe, because of `force`. */
  report: nodeReport.nullable(),
  /** Settings that need a restart. */
  notes: z.array(z.string()),
});

const series = z.array(z.number().nullable());
const counts = z.array(count);

const nodeHistory = z.object({
  axis: z.object({ from: time, to: time, stepMs: z.number() }),
  network: network.nullable(),
  /** The newest known version. */
  version: z.string().nullable(),
  /** Most slots behind the best node. */
  lagSlots: series,
  /** Milliseconds. */
  p50: series,
  p95: series,
  responses: counts,
  failures: counts,
  throttled: counts,
  /** Share of the attempts at all nodes of the network. */
  share: series,
  /** Share of time in which the node was healthy. */
  ready: series,
  /** Newest first, at most 500. `kind` is the new state, such as `failing` or `drained`, or `version`. */
  events: z.array(
    z.object({
      id: z.string(),
      at: time,
      gateway: z.string(),
      kind: z.string(),
      detail: z.string().nullable(),
    }),
  ),
});

export const nodeRoutes = {
  'POST /upstreams': {
    access: 'operator',
    summary:
      'Add a node to every gateway permanently. It is probed first and rejected with the findings unless `force` is set',
    body: z.object({ network, name: nodeName, ...connectionSettings, force }),
    result: acceptedNode,
  },
  'POST /upstreams/test': {
    access: 'operator',
    summary: 'Check whether a node could be added, without adding it',
    body: z.object({ network, name: nodeName.optional(), ...connectionSettings }),
    result: nodeReport,
  },
  'PATCH /upstreams/{node}': {
    access: 'operator',
    summary: 'Change an added node; absent fields stay. Headers and options are replaced as a whole',
    body: z.object({ ...connectionSettings, url: address.optional(), force }),
    result: acceptedNode,
  },
  'POST /upstreams/{node}/drain': {
    access: 'operator',
    summary: 'Drain a node in every gateway until it is uncordoned',
    body: z.object({ network, reason: z.string().max(200).default(''), force }),
    result: done,
  },
  'DELETE /upstreams/{node}': {
    access: 'operator',
    summary:
      'Remove an added node from every gateway; running calls finish. Nodes of the configuration file cannot be removed here',
    query: z.object({ force: z.enum(['true', 'false']).optional() }),
    result: done,
  },
  'GET /upstreams/{node}/history': {
    access: 'operator',
    summary: 'Show lag, latency, errors, share of traffic and events of a node over time',
    query: rangeQuery,
    result: nodeHistory,
  },
  'POST /reload': {
    access: 'operator',
    summary: 'Reload the configuration of the gateway that receives the request',
    /** Names of changed fields: those applied now, and those that need a restart. */
    result: z.object({ changed: z.array(z.string()), restart: z.array(z.string()) }),
  },
} as const satisfies Record<RouteName, Route>;
