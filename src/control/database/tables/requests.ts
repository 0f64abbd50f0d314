import type { Kysely } from 'kysely';
import type { UsageStatus } from '../../../gateway/metering/usage-meter.ts';
import type { Network } from '../../../protocol/call.ts';
import type { Product } from '../../../protocol/product.ts';
import type { SubmissionStatus } from '../../../protocol/submission-result.ts';

/** Logged requests, open connections and gateways: bounded, not used for billing. */
export interface RequestTables {
  request_log: RequestLogTable;
  submission: SubmissionTable;
  gateway: GatewayTable;
  connection: ConnectionTable;
  connection_close: ConnectionCloseTable;
  lagged_minute: LaggedMinuteTable;
  node_cordon: NodeCordonTable;
}

/** Logged requests. Times are Unix milliseconds. */
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
  /** The node that answered. */
  node: string | null;
  address: string;
  origin: string | null;
  /** JSON array of steps; empty if logging was decided only at the end. */
  steps: string;
  params: string | null;
  result: string | null;
}

/** Submitted transactions. */
export interface SubmissionTable {
  /** Like the ids of the log. */
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
  /** Rebroadcasts after acceptance. */
  rebroadcasts: number;
  /**
   * JSON array of rebroadcast results by node and outcome, with count, last time and milliseconds; null:
   * none.
   */
  again: string | null;
  /** Final outcome; null: unknown. */
  fate: SubmissionStatus | null;
  /** Landing slot as digits, because databases have no u64. */
  fate_slot: string | null;
  fate_err: string | null;
}

/** One row per serving process. */
export interface GatewayTable {
  /** Id of a process run. */
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

/** Close requests; the gateway with the connection deletes the row. */
export interface ConnectionCloseTable {
  connection_id: string;
  gateway: string;
  asked_at: number;
}

/** Connections closed for lag: running totals of one process per minute. */
export interface LaggedMinuteTable {
  gateway: string;
  customer_id: string;
  /** Unix minutes. */
  minute: number;
  connections: number;
}

/** Nodes that the operator took out of service. */
export interface NodeCordonTable {
  network: Network;
  node: string;
  reason: string;
  actor: string;
  at: number;
  /** 1: receives no calls even if no other node is left. */
  is_drain: number;
}

async function createLog(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('request_log')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('gateway', 'text', (column) => column.notNull())
    .addColumn('customer_id', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text')
    .addColumn('product', 'text', (column) => column.notNull())
    .addColumn('network', 'text')
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('http', 'integer', (column) => column.notNull())
    // Nodes may send any number.
    .addColumn('rpc_code', 'bigint', (column) => column.notNull())
    .addColumn('failure', 'text')
    .addColumn('micros', 'bigint', (column) => column.notNull())
    .addColumn('bytes_in', 'bigint', (column) => column.notNull())
    .addColumn('bytes_out', 'bigint', (column) => column.notNull())
    .addColumn('node', 'text')
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('origin', 'text')
    .addColumn('steps', 'text', (column) => column.notNull())
    .addColumn('params', 'text')
    .addColumn('result', 'text')
    .execute();
  await db.schema
    .createIndex('request_log_customer')
    .on('request_log')
    .columns(['customer_id', 'id'])
    .execute();
  await db.schema
    .createTable('submission')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('signature', 'text', (column) => column.notNull())
    .addColumn('customer_id', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('network', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('attempts', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('submission_customer')
    .on('submission')
    .columns(['customer_id', 'id'])
    .execute();
  await db.schema.createIndex('submission_signature').on('submission').column('signature').execute();
}

async function createGateways(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('gateway')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('seen_at', 'bigint', (column) => column.notNull())
    .addColumn('nodes', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('connection')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('gateway', 'text', (column) => column.notNull())
    .addColumn('customer_id', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('told_at', 'bigint', (column) => column.notNull())
    .addColumn('facts', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('connection_customer')
    .on('connection')
    .columns(['customer_id', 'id'])
    .execute();
  await db.schema
    .createIndex('connection_gateway')
    .on('connection')
    .columns(['gateway', 'told_at'])
    .execute();
}

async function createCommands(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('connection_close')
    .addColumn('connection_id', 'text', (column) => column.primaryKey())
    .addColumn('gateway', 'text', (column) => column.notNull())
    .addColumn('asked_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('lagged_minute')
    .addColumn('gateway', 'text', (column) => column.notNull())
    .addColumn('customer_id', 'text', (column) => column.notNull())
    .addColumn('minute', 'bigint', (column) => column.notNull())
    .addColumn('connections', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('lagged_minute_row', ['customer_id', 'minute', 'gateway'])
    .execute();
  await db.schema
    .createTable('node_cordon')
    .addColumn('network', 'text', (column) => column.notNull())
    .addColumn('node', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('node_cordon_row', ['network', 'node'])
    .execute();
}

export async function createRequestTables(db: Kysely<unknown>): Promise<void> {
  await createLog(db);
  await createGateways(db);
  await createCommands(db);
}
