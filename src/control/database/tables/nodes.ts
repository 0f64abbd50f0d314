import type { Kysely } from 'kysely';
import type { Network } from '../../../protocol/call.ts';

/** Nodes that were added while the service ran. Times are Unix milliseconds. */
export interface NodeTables {
  upstream_node: UpstreamNodeTable;
}

export interface UpstreamNodeTable {
  name: string;
  network: Network;
  /** Its addresses, headers and options under a key of the server: control/nodes/node-seal.ts. */
  sealed: string;
  /** The pepper from which that key was derived. */
  pepper_version: number;
  /** 1: it has PubSub. */
  has_ws: number;
  /** 1: it has Geyser. */
  has_grpc: number;
  created_by: string;
  created_at: number;
  changed_at: number;
  /** Of its last change, by the change counter: gateways look whether it is another one. */
  version: number;
}

/** Step 11 of the schema. */
export async function createNodeTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('upstream_node')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('network', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('pepper_version', 'integer', (column) => column.notNull())
    .addColumn('has_ws', 'integer', (column) => column.notNull())
    .addColumn('has_grpc', 'integer', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .addColumn('version', 'bigint', (column) => column.notNull())
    .execute();
}
