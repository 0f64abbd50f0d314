import { z } from 'zod';
import type { Route, RouteName } from './route.ts';
import { count, done, network } from './values.ts';

/**
 * Nodes behind the service that are added, changed, drained and removed while it runs, and the configuration that is read
 * again. No answer holds an address, a header or anything else that could be a provider's key.
 */

const nodeName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, '1 to 64 letters, digits, dots, dashes or underscores');
const address = z.string().max(4_096);

/** How a node is reached. What each may be is as the configuration has it, and said in its words. */
const connectionSettings = {
  url: address,
  /** Left out: derived from `url` as clients do; "off": the node has no PubSub. */
  ws: address.nullable().optional(),
  grpc: address.nullable().optional(),
  headers: z.record(z.string().max(128), z.string().max(8_192)).optional(),
  /** What else [[upstream]] of the configuration says, by the names it has there: `requests_per_second`, … */
  options: z.record(z.string().max(64), z.unknown()).optional(),
};
const force = z.boolean().default(false);

const finding = z.object({ severity: z.enum(['error', 'warning']), finding: z.string(), remedy: z.string() });

/** What a node said of itself when it was asked; null where it did not say. */
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

/** A node that was added; never how it is reached. */
export const addedNodeView = z.object({
  name: z.string(),
  network,
  hasWs: z.boolean(),
  hasGrpc: z.boolean(),
  /** What else the configuration says of nodes, complete; null where it cannot be read with the pepper of today. */
  options: z.record(z.string(), z.unknown()).nullable(),
  createdBy: z.string(),
  createdAt: count,
});

const acceptedNode = z.object({
  node: addedNodeView,
  /** null where it was taken without being asked. */
  report: nodeReport.nullable(),
  /** What of it takes a restart. */
  notes: z.array(z.string()),
});

export const nodeRoutes = {
  'POST /upstreams': {
    access: 'operator',
    summary:
      'Adds a node in every gateway, for good. It is asked first, and refused with what was found unless `force` is set',
    body: z.object({ network, name: nodeName, ...connectionSettings, force }),
    result: acceptedNode,
  },
  'POST /upstreams/test': {
    access: 'operator',
    summary: 'Asks a node who it is and what it can do, without adding it',
    body: z.object({ network, ...connectionSettings }),
    result: nodeReport,
  },
  'PATCH /upstreams/{node}': {
    access: 'operator',
    summary:
      'Changes how an added node is reached; what is left out stays. Headers and options are given whole',
    body: z.object({ ...connectionSettings, url: address.optional(), force }),
    result: acceptedNode,
  },
  'POST /upstreams/{node}/drain': {
    access: 'operator',
    summary:
      'Lets no more calls go to a node and moves subscriptions and streams away from it, in every gateway, until it is uncordoned',
    body: z.object({ network, reason: z.string().max(200).default(''), force }),
    result: done,
  },
  'DELETE /upstreams/{node}': {
    access: 'operator',
    summary:
      'Removes an added node from every gateway; calls under way finish. Nodes of the file stay with the file',
    query: z.object({ force: z.enum(['true', 'false']).optional() }),
    result: done,
  },
  'POST /reload': {
    access: 'operator',
    summary:
      'Lets the gateway that is asked read its configuration again: all of it is checked before any of it is in force',
    result: z.object({
      /** Fields that are in force now. */
      changed: z.array(z.string()),
      /** Fields that need a restart. */
      restart: z.array(z.string()),
    }),
  },
} as const satisfies Record<RouteName, Route>;
