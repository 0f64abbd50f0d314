import type { Kysely, Transaction } from 'kysely';
import type { Network } from '../../protocol/call.ts';
import type { Store } from '../database/open.ts';
import type { Schema } from '../database/schema.ts';
import type { UpstreamNodeTable } from '../database/tables/nodes.ts';
import type { Peppers } from '../pepper.ts';
import { JsonSeal, type Sealed } from '../semi-wallets/wrap.ts';

/** Addresses and headers may contain credentials and are never shown. */
export type NodeSettings = Readonly<{
  url: string;
  /** null: no PubSub. */
  ws: string | null;
  /** True if `ws` was derived from `url`. */
  isWsDerived: boolean;
  /** null: no Geyser. */
  grpc: string | null;
  headers: Readonly<Record<string, string>>;
  /** Further node options, by their names in the configuration file. */
  options: Readonly<Record<string, unknown>>;
}>;

export type AddedNode = Readonly<{ name: string; network: Network; settings: NodeSettings }>;

/** Encrypts node settings, bound to network and name. */
export class NodeSeal {
  readonly #seal: JsonSeal<NodeSettings>;

  constructor(peppers: Peppers) {
    this.#seal = new JsonSeal(peppers, 'solway upstream nodes');
  }

  get current(): number {
    return this.#seal.current;
  }

  seal({ name, network, settings }: AddedNode): Sealed {
    return this.#seal.seal(settings, network, name);
  }

  /** @returns null if the pepper is missing or the data is corrupt. */
  open(row: Sealed & Pick<UpstreamNodeTable, 'name' | 'network'>): AddedNode | null {
    const { name, network } = row;
    const settings = this.#seal.open(row, network, name);
    return settings === null ? null : { name, network, settings };
  }
}

/** Rows of nodes added at run time. */

/** The same limit as in the configuration file. */
export const ADDED_NODES_MAX = 256;

const has = (address: string | null): number => (address === null ? 0 : 1);

const columnsOf = (node: AddedNode, seal: NodeSeal) => ({
  ...seal.seal(node),
  has_ws: has(node.settings.ws),
  has_grpc: has(node.settings.grpc),
});

/** In the order of addition. */
export const readNodeRows = (db: Kysely<Schema>): Promise<UpstreamNodeTable[]> =>
  db
    .selectFrom('upstream_node')
    .selectAll()
    .orderBy('created_at')
    .orderBy('name')
    .limit(ADDED_NODES_MAX)
    .execute();

export const findNodeRow = (db: Kysely<Schema>, name: string): Promise<UpstreamNodeTable | undefined> =>
  db.selectFrom('upstream_node').selectAll().where('name', '=', name).executeTakeFirst();

/** Whether the database ever had added nodes, according to the audit log. */
export async function wereNodesUsed(db: Kysely<Schema>): Promise<boolean> {
  const query = db.selectFrom('audit').select('id').where('action', 'in', ['node.add', 'node.use']);
  return (await query.orderBy('id').limit(1).executeTakeFirst()) !== undefined;
}

export async function countNodes(db: Kysely<Schema>): Promise<number> {
  const { count } = await db
    .selectFrom('upstream_node')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
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
  await trx
    .insertInto('upstream_node')
    .values({ name, network, ...columnsOf(node, seal), ...times })
    .execute();
}

export async function updateNode(
  trx: Transaction<Schema>,
  seal: NodeSeal,
  node: AddedNode,
  { at, version }: Omit<Added, 'by'>,
): Promise<void> {
  await trx
    .updateTable('upstream_node')
    .set({ ...columnsOf(node, seal), changed_at: at, version })
    .where('name', '=', node.name)
    .execute();
}

/** Removes a node and its cordon. */
export async function deleteNode(trx: Transaction<Schema>, network: Network, name: string): Promise<void> {
  await trx.deleteFrom('upstream_node').where('name', '=', name).execute();
  await trx.deleteFrom('node_cordon').where('network', '=', network).where('node', '=', name).execute();
}

/** Reseals nodes that are sealed under an older pepper. */
export async function resealNodes({ db }: Store, seal: NodeSeal): Promise<void> {
  const rows = await db
    .selectFrom('upstream_node')
    .selectAll()
    .where('pepper_version', '<>', seal.current)
    .execute();
  for (const row of rows) {
    const node = seal.open(row);
    if (node === null) continue;
    await db
      .updateTable('upstream_node')
      .set(seal.seal(node))
      .where('name', '=', row.name)
      .where('sealed', '=', row.sealed)
      .execute();
  }
}
