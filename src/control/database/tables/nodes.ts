import type { Kysely } from 'kysely';
import type { Network } from '../../../protocol/call.ts';

/** Nodes added at run time. Times are Unix milliseconds. */
export interface NodeTables {
  upstream_node: UpstreamNodeTable;
}

export interface UpstreamNodeTable {
  name: string;
  network: Network;
  /** Addresses, headers and options under a server key: control/nodes/added-nodes.ts. */
  sealed: string;
  /** Pepper from which the server key was derived. */
  pepper_version: number;
  /** 1: has PubSub. */
  has_ws: number;
  /** 1: has Geyser. */
  has_grpc: number;
  created_by: string;
  created_at: number;
  changed_at: number;
  /** Change counter of the last change; gateways poll it. */
  version: number;
}

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
