import type { Network } from '../../../protocol/call.ts';

export interface NodeTables {
  upstream_node: UpstreamNodeTable;
}

/** A node added at run time. */
export interface UpstreamNodeTable {
  name: string;
  network: Network;
  /** Encrypted `NodeSettings` from control/nodes/added-nodes.ts. */
  sealed: string;
  pepper_version: number;
  has_ws: number;
  has_grpc: number;
  created_by: string;
  created_at: number;
  changed_at: number;
  /** Polled by gateways to detect changes. */
  version: number;
}

export const nodeTables = `
  create table upstream_node (
    name text primary key, network text not null, sealed text not null, pepper_version integer not null,
    has_ws integer not null, has_grpc integer not null, created_by text not null,
    created_at bigint not null, changed_at bigint not null, version bigint not null
  )`;
