import type { Kysely } from 'kysely';
import type { Network } from '../../../protocol/call.ts';
import { executeSql } from '../execute-sql.ts';

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

export const createNodeTables = (db: Kysely<unknown>): Promise<void> =>
  executeSql(
    db,
    `create table upstream_node (
      name text primary key, network text not null, sealed text not null, pepper_version integer not null,
      has_ws integer not null, has_grpc integer not null, created_by text not null,
      created_at bigint not null, changed_at bigint not null, version bigint not null
    )`,
  );
