import type { Network } from '../../../protocol/call.ts';

export interface NodeHistoryTables {
  node_history: NodeHistoryTable;
  node_event: NodeEventTable;
}

export const historySteps = ['minute', 'hour'] as const;
export type HistoryStep = (typeof historySteps)[number];

/** What one gateway observed of a node: running totals of a minute or an hour. Readers sum over `gateway`. */
export interface NodeHistoryTable {
  step: HistoryStep;
  /** Minutes or hours since the Unix epoch. */
  bucket: number;
  /** Id of the process run. */
  gateway: string;
  network: Network;
  node: string;
  samples: number;
  /** Samples in which the node was healthy. */
  ready: number;
  /** Most slots behind the best node; null if it was never known. */
  lag_max: number | null;
  /** Attempts that ended with a response, failed, or were throttled. */
  responses: number;
  failures: number;
  throttled: number;
  /** Histogram of response times, as in `UsageCounters`. */
  latency: string;
  version: string | null;
}

/** A change of a node's state, as seen by one gateway. */
export interface NodeEventTable {
  id: string;
  at: number;
  gateway: string;
  network: Network;
  node: string;
  /** The new state, such as `failing` or `drained`; or `version`. */
  kind: string;
  detail: string | null;
}

export const nodeHistoryTables = `
  create table node_history (
    step text not null, bucket bigint not null, gateway text not null, network text not null,
    node text not null, samples bigint not null, ready bigint not null, lag_max bigint,
    responses bigint not null, failures bigint not null, throttled bigint not null, latency text not null,
    version text, constraint node_history_row primary key (step, bucket, network, node, gateway)
  );
  create table node_event (
    id text primary key, at bigint not null, gateway text not null, network text not null,
    node text not null, kind text not null, detail text
  );
  create index node_event_node on node_event (node, at)`;
