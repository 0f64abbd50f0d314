import type { UsageStatus } from '../../../gateway/metering/usage-meter.ts';
import type { Network } from '../../../protocol/call.ts';
import type { Product } from '../../../protocol/product.ts';
import type { SubmissionStatus } from '../../../protocol/submission-result.ts';

/** Bounded; not used for billing. */
export interface RequestTables {
  request_log: RequestLogTable;
  submission: SubmissionTable;
  gateway: GatewayTable;
  connection: ConnectionTable;
  /** Close requests; the gateway with the connection deletes the row. */
  connection_close: {
    connection_id: string;
    gateway: string;
    asked_at: number;
  };
  lagged_minute: LaggedMinuteTable;
  node_cordon: {
    network: Network;
    node: string;
    reason: string;
    actor: string;
    at: number;
    /** Receives no calls even if no other node is left. */
    is_drain: number;
  };
}

export interface RequestLogTable {
  /** Sortable by the start of the request: control/requests/read-log.ts. */
  id: string;
  at: number;
  gateway: string;
  /** The built-in customer for calls without a valid key. */
  customer_id: string;
  key_id: string | null;
  product: Product;
  network: Network | null;
  method: string;
  status: UsageStatus;
  /** HTTP status; 0 for other transports. */
  http: number;
  /** 0 for none. */
  rpc_code: number;
  failure: string | null;
  micros: number;
  bytes_in: number;
  bytes_out: number;
  node: string | null;
  address: string;
  origin: string | null;
  /** JSON array of steps; empty if logging was decided only at the end. */
  steps: string;
  params: string | null;
  result: string | null;
}

export interface SubmissionTable {
  id: string;
  at: number;
  signature: string;
  customer_id: string;
  key_id: string;
  network: Network;
  /** `accepted`, or the failure. */
  outcome: string;
  /** JSON array of node, time, milliseconds and outcome. */
  attempts: string;
  rebroadcasts: number;
  /** JSON array of rebroadcast results by node and outcome, with count, last time and milliseconds. */
  again: string | null;
  /** Final outcome; null: unknown. */
  fate: SubmissionStatus | null;
  /** Decimal, because databases have no u64. */
  fate_slot: string | null;
  fate_err: string | null;
}

export interface GatewayTable {
  /** Process run. */
  id: string;
  host: string;
  version: string;
  started_at: number;
  seen_at: number;
  /** JSON array of nodes as seen by the gateway. */
  nodes: string;
  /** Address as reached by its own machine; null before the listeners are open. */
  url: string | null;
}

/** Open WebSockets and gRPC streams as last reported. */
export interface ConnectionTable {
  id: string;
  gateway: string;
  customer_id: string;
  key_id: string;
  kind: 'websocket' | 'grpc';
  /** Time of that report; unchanged facts are not reported again. */
  told_at: number;
  /** JSON object with everything else that lists show. */
  facts: string;
}

/** Connections closed for lag: running totals of one process per minute. */
export interface LaggedMinuteTable {
  gateway: string;
  customer_id: string;
  /** Unix minutes. */
  minute: number;
  connections: number;
}

/** `rpc_code` is a bigint, because nodes may send any number. */
export const requestTables = `
  create table request_log (
    id text primary key, at bigint not null, gateway text not null, customer_id text not null, key_id text,
    product text not null, network text, method text not null, status text not null, http integer not null,
    rpc_code bigint not null, failure text, micros bigint not null, bytes_in bigint not null,
    bytes_out bigint not null, node text, address text not null, origin text, steps text not null,
    params text, result text
  );
  create index request_log_customer on request_log (customer_id, id);
  create table submission (
    id text primary key, at bigint not null, signature text not null, customer_id text not null,
    key_id text not null, network text not null, outcome text not null, attempts text not null
  );
  create index submission_customer on submission (customer_id, id);
  create index submission_signature on submission (signature);
  create table gateway (
    id text primary key, host text not null, version text not null, started_at bigint not null,
    seen_at bigint not null, nodes text not null
  );
  create table connection (
    id text primary key, gateway text not null, customer_id text not null, key_id text not null,
    kind text not null, told_at bigint not null, facts text not null
  );
  create index connection_customer on connection (customer_id, id);
  create index connection_gateway on connection (gateway, told_at);
  create table connection_close (
    connection_id text primary key, gateway text not null, asked_at bigint not null
  );
  create table lagged_minute (
    gateway text not null, customer_id text not null, minute bigint not null, connections bigint not null,
    constraint lagged_minute_row primary key (customer_id, minute, gateway)
  );
  create table node_cordon (
    network text not null, node text not null, reason text not null, actor text not null,
    at bigint not null, constraint node_cordon_row primary key (network, node)
  )`;
