import type { UsageStatus } from '../../../gateway/metering/usage-status.ts';
import type { Network } from '../../../protocol/call.ts';
import type { Product } from '../../../protocol/product.ts';
import type { SubmissionStatus } from '../../../protocol/submission-result.ts';

/** Tables of bounded size, not used for billing. */
export interface RequestTables {
  request_log: RequestLogTable;
  request_term: RequestTermTable;
  submission: SubmissionTable;
  gateway: GatewayTable;
  connection: ConnectionTable;
  /** Requests to close a connection. The gateway that holds the connection deletes the row. */
  connection_close: {
    connection_id: string;
    gateway: string;
    asked_at: number;
  };
  lagged_minute: LaggedMinuteTable;
  unknown_method: UnknownMethodTable;
  node_cordon: {
    network: Network;
    node: string;
    reason: string;
    actor: string;
    at: number;
    /** 1: the node receives no calls, even if no other node is left. */
    is_drain: number;
  };
}

export interface RequestLogTable {
  /** Ids sort by the start time of the request. See control/requests/entry-ids.ts. */
  id: string;
  at: number;
  gateway: string;
  /** For calls without a known key, the built-in customer. */
  customer_id: string;
  key_id: string | null;
  product: Product;
  network: Network | null;
  method: string;
  status: UsageStatus;
  /** HTTP status; 0 for other transports. */
  http: number;
  /** JSON-RPC error code; 0 for none. */
  rpc_code: number;
  /** Failure code, or gRPC status. */
  failure: string | null;
  /** Error message; null for a successful request, or if an older version wrote the row. */
  message: string | null;
  signature: string | null;
  micros: number;
  bytes_in: number;
  bytes_out: number;
  node: string | null;
  address: string;
  origin: string | null;
  /** JSON array of steps; empty for requests that are logged only because they were slow. */
  steps: string;
  params: string | null;
  result: string | null;
}

/** Index of the terms of log entries, described in control/requests/log-terms.ts. Pruned with the entries. */
export interface RequestTermTable {
  customer_id: string;
  term: string;
  id: string;
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
  /** The node's or the service's message about a rejection; null for an accepted transaction. */
  message: string | null;
  /** JSON array of attempts, each with node, time, milliseconds and outcome. */
  attempts: string;
  rebroadcasts: number;
  /** JSON array of rebroadcast results by node and outcome, with the count and the last attempt's time and duration. */
  again: string | null;
  /** Final outcome; null: unknown. */
  fate: SubmissionStatus | null;
  /** Decimal text, because the databases have no u64 type. */
  fate_slot: string | null;
  fate_err: string | null;
}

export interface GatewayTable {
  /** Id of the process run. */
  id: string;
  host: string;
  version: string;
  started_at: number;
  seen_at: number;
  /** JSON array of nodes as seen by the gateway. */
  nodes: string;
  /** URL that reaches the gateway from its own machine; null until its listeners are open. */
  url: string | null;
  /** JSON array of the gateway's problems; null from gateways that run an older version. */
  problems: string | null;
}

/** Open WebSocket connections and gRPC streams, as last reported by their gateway. */
export interface ConnectionTable {
  id: string;
  gateway: string;
  customer_id: string;
  key_id: string;
  kind: 'websocket' | 'grpc';
  /** Time of the last report. Unchanged facts are not reported again. */
  told_at: number;
  /** JSON object with the fields that are shown in lists but have no column. */
  facts: string;
}

/** Connections closed because the client read too slowly: running totals of each process per minute. */
export interface LaggedMinuteTable {
  gateway: string;
  customer_id: string;
  /** Minutes since the Unix epoch. */
  minute: number;
  connections: number;
}

/** Calls of methods that no node supports: running totals of each process per hour. */
export interface UnknownMethodTable {
  /** Hours since the Unix epoch. */
  hour: number;
  customer_id: string;
  method: string;
  gateway: string;
  calls: number;
  last_at: number;
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

/** The terms of existing rows are their codes. `{options}` are those of a table whose only index is its key. */
export const requestReasons = `
  alter table request_log add column message text;
  alter table request_log add column signature text;
  create index request_log_key on request_log (key_id, id);
  create index request_log_method on request_log (customer_id, method, id);
  create index request_log_failed on request_log (customer_id, id) where status <> 'ok';
  create table request_term (
    customer_id text not null, term text not null, id text not null,
    constraint request_term_row primary key (customer_id, term, id)
  ) {options};
  insert into request_term select customer_id, lower(failure), id from request_log where failure is not null;
  insert into request_term
    select customer_id, cast(rpc_code as text), id from request_log where rpc_code <> 0;
  alter table submission add column message text;
  create index submission_key on submission (key_id, id);
  create table unknown_method (
    hour bigint not null, customer_id text not null, method text not null, gateway text not null,
    calls bigint not null, last_at bigint not null,
    constraint unknown_method_row primary key (hour, customer_id, method, gateway)
  )`;
