import type { Kysely, Transaction } from 'kysely';
import type { Network } from '../../protocol/call.ts';
import { deleteRows, insertRow, selectRows, updateRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { UpstreamNodeTable } from '../database/tables/nodes.ts';
import { JsonSeal } from '../json-seal.ts';
import type { Peppers } from '../pepper.ts';

/** `url`, `ws`, `grpc` and `headers` may contain credentials and are never shown. */
export type NodeSettings = Readonly<{
  url: string;
  ws: string | null;
  /** Whether `ws` was derived from `url`. */
  isWsDerived: boolean;
  grpc: string | null;
  headers: Readonly<Record<string, string>>;
  /** Other node options, keyed by their names in the configuration file. */
  options: Readonly<Record<string, unknown>>;
}>;

export type AddedNode = Readonly<{ name: string; network: Network; settings: NodeSettings }>;

/** Encrypts node settings and binds them to the node's network and name. */
export class NodeSeal extends JsonSeal<NodeSettings> {
  constructor(peppers: Peppers) {
    super(peppers, 'solway upstream nodes');
  }
}

/** Same limit as for nodes in the configuration file. */
export const ADDED_NODES_MAX = 256;

const has = (address: string | null): number => (address === null ? 0 : 1);

const columnsOf = ({ name, network, settings }: AddedNode, seal: NodeSeal) => ({
  ...seal.seal(settings, network, name),
  has_ws: has(settings.ws),
  has_grpc: has(settings.grpc),
});

export const readNodeRows = (db: Kysely<Schema>): Promise<UpstreamNodeTable[]> =>
  selectRows(db, 'upstream_node', {}).orderBy('created_at').orderBy('name').limit(ADDED_NODES_MAX).execute();

/** Whether the service has ever used nodes with this database, according to the audit log. */
export async function wereNodesUsed(db: Kysely<Schema>): Promise<boolean> {
  const query = db.selectFrom('audit').select('id').where('action', 'in', ['node.add', 'node.use']);
  return (await query.orderBy('id').limit(1).executeTakeFirst()) !== undefined;
}

type Added = Readonly<{ by: string; at: number; version: number }>;

export async function insertNode(
  trx: Transaction<Schema>,
  seal: NodeSeal,
  node: AddedNode,
  { by, at, version }: Added,
): Promise<void> {
  const { name, network } = node;
  const times = { created_by: by, created_at: at, changed_at: at, version };
  await insertRow(trx, 'upstream_node', { name, network, ...columnsOf(node, seal), ...times });
}

export async function updateNode(
  trx: Transaction<Schema>,
  seal: NodeSeal,
  node: AddedNode,
  { at, version }: Omit<Added, 'by'>,
): Promise<void> {
  const values = { ...columnsOf(node, seal), changed_at: at, version };
  await updateRows(trx, 'upstream_node', { name: node.name }, values);
}

/** Removes a node and its cordon. */
export async function deleteNode(trx: Transaction<Schema>, network: Network, name: string): Promise<void> {
  await deleteRows(trx, 'upstream_node', { name });
  await deleteRows(trx, 'node_cordon', { network, node: name });
}

/** Re-encrypts nodes that are not sealed with the current pepper. */
export async function resealNodes({ db }: Store, seal: NodeSeal): Promise<void> {
  const rows = await selectRows(db, 'upstream_node', {})
    .where('pepper_version', '<>', seal.current)
    .execute();
  for (const row of rows) {
    const { name, network, sealed } = row;
    const settings = seal.open(row, network, name);
    if (settings === null) continue;
    await updateRows(db, 'upstream_node', { name, sealed }, seal.seal(settings, network, name));
  }
}
