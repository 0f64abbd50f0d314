import type { Kysely } from 'kysely';
import type { UsageStatus } from '../../../gateway/metering/usage-meter.ts';
import type { Network } from '../../../protocol/call.ts';
import type { Product } from '../../../protocol/product.ts';
import type { SubmissionStatus } from '../../../protocol/submission-result.ts';

/** What single requests, open connections and gateways tell of themselves: bounded, and never money. */
export interface RequestTables {
  request_log: RequestLogTable;
  submission: SubmissionTable;
  gateway: GatewayTable;
  connection: ConnectionTable;
  connection_close: ConnectionCloseTable;
  lagged_minute: LaggedMinuteTable;
  node_cordon: NodeCordonTable;
}

/** Requests that were kept. Times are Unix milliseconds. */
export interface RequestLogTable {
  /** control/requests/entry-id.ts: ids stand in the order of the times at which requests began. */
  id: string;
  at: number;
  gateway: string;
  /** Calls without a good key are the house's. */
  customer_id: string;
  key_id: string | null;
  product: Product;
  network: Network | null;
  method: string;
  status: UsageStatus;
  /** HTTP status; 0 on other wires. */
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
  /** JSON array of the steps of its way; empty for one that was kept only after it had ended. */
  steps: string;
  params: string | null;
  result: string | null;
}

/** Transactions that were handed over. */
export interface SubmissionTable {
  /** As those of the log. */
  id: string;
  at: number;
  signature: string;
  customer_id: string;
  key_id: string;
  network: Network;
  /** `accepted`, or the failure. */
  outcome: string;
  /** JSON array: node, time, milliseconds and what it came to. */
  attempts: string;
  /** How often it was sent to the nodes again after it had been accepted. */
  rebroadcasts: number;
  /** JSON array of what nodes said to that: node, outcome, how often, and time and milliseconds of the last; null: nothing. */
  again: string | null;
  /** What became of it then; null: not known. */
  fate: SubmissionStatus | null;
  /** Where it landed: digits, since a u64 is more than databases hold. */
  fate_slot: string | null;
  fate_err: string | null;
}

/** One row for each process that serves requests. */
export interface GatewayTable {
  /** Names one run of one process. */
  id: string;
  host: string;
  version: string;
  started_at: number;
  seen_at: number;
  /** JSON array: its nodes, as it sees them. */
  nodes: string;
  /** Where it answers, as its own machine reaches it; null while its doors are shut. */
  url: string | null;
}

/** Open WebSockets and gRPC streams, as their gateway told last. */
export interface ConnectionTable {
  id: string;
  gateway: string;
  customer_id: string;
  key_id: string;
  kind: 'websocket' | 'grpc';
  /** When that was; what does not change is not told again. */
  told_at: number;
  /** JSON object: all else that lists show. */
  facts: string;
}

/** Connections that somebody wants closed; the gateway that has one takes its row out. */
export interface ConnectionCloseTable {
  connection_id: string;
  gateway: string;
  asked_at: number;
}

/** Connections that were cut because their clients read too slowly: running totals of one process for a minute. */
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
  /** 1: not even asked when all others are out of service too. */
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

/** Step 9 of the schema. */
export async function createRequestTables(db: Kysely<unknown>): Promise<void> {
  await createLog(db);
  await createGateways(db);
  await createCommands(db);
}
