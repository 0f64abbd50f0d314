import type { Selectable } from 'kysely';
import type { KeyId, KeyRecord, PlanLimits } from '../access/key-record.ts';
import type { Store } from './database/open.ts';
import type { KeyTable, PlanTable } from './database/schema.ts';
import { notSpent } from './spent-keys.ts';

const limitColumns = [
  'plan.rpc_per_second',
  'plan.rpc_burst',
  'plan.ws_connections_max',
  'plan.ws_subscriptions_max',
  'plan.ws_message_max_bytes',
  'plan.grpc_streams_max',
  'plan.grpc_filters_max',
  'plan.grpc_blocks_max',
  'plan.grpc_pubkeys_max',
  'plan.grpc_cuckoo_max_bytes',
] as const;

type Row = Selectable<KeyTable> & Omit<PlanTable, 'id' | 'name' | 'version'> & { plan_version: number };

const limitsOf = (row: Row): PlanLimits => ({
  rpcPerSecond: row.rpc_per_second,
  rpcBurst: row.rpc_burst,
  wsConnectionsMax: row.ws_connections_max,
  wsSubscriptionsMax: row.ws_subscriptions_max,
  wsMessageMaxBytes: row.ws_message_max_bytes,
  grpcStreamsMax: row.grpc_streams_max,
  grpcFiltersMax: row.grpc_filters_max,
  grpcBlocksMax: row.grpc_blocks_max,
  grpcPubkeysMax: row.grpc_pubkeys_max,
  grpcCuckooMaxBytes: row.grpc_cuckoo_max_bytes,
});

function recordOf(row: Row): KeyRecord {
  return {
    id: row.id as KeyId,
    product: row.product,
    familyId: row.family_id,
    name: row.name,
    digest: Buffer.from(row.digest, 'hex'),
    pepperVersion: row.pepper_version,
    state: row.state,
    expiresAt: row.expires_at,
    limits: limitsOf(row),
    version: Math.max(row.version, row.plan_version),
  };
}

function selectRecords(store: Store) {
  return store.db
    .selectFrom('api_key')
    .innerJoin('plan', 'plan.id', 'api_key.plan_id')
    .selectAll('api_key')
    .select([...limitColumns, 'plan.version as plan_version']);
}

/** The number of the newest change of any key or plan. */
export async function newestVersion(store: Store): Promise<number> {
  const row = await store.db.selectFrom('change_counter').select('version').executeTakeFirstOrThrow();
  return row.version;
}

/**
 * Keys that changed after `version`, in pages, oldest change first.
 * @param unspentAt - leaves out keys that are spent at this time (spent-keys.ts): for who holds none of them yet.
 */
export async function* keysChangedAfter(
  store: Store,
  version: number,
  pageRows: number,
  unspentAt: number | null = null,
): AsyncGenerator<KeyRecord[]> {
  let last = version;
  for (;;) {
    const rows = await selectRecords(store)
      .where('api_key.version', '>', last)
      .$if(unspentAt !== null, (query) => query.where(notSpent(unspentAt ?? 0)))
      .orderBy('api_key.version')
      .limit(pageRows)
      .execute();
    if (rows.length > 0) yield rows.map(recordOf);
    if (rows.length < pageRows) return;
    last = rows.at(-1)!.version;
  }
}

/** Keys whose plan changed after `version`, in pages by id. Spent ones are left out: a plan is nothing to them. */
export async function* keysOfPlansChangedAfter(
  store: Store,
  version: number,
  pageRows: number,
): AsyncGenerator<KeyRecord[]> {
  let last = '';
  for (;;) {
    const rows = await selectRecords(store)
      .where('plan.version', '>', version)
      .where(notSpent(Date.now()))
      .where('api_key.id', '>', last)
      .orderBy('api_key.id')
      .limit(pageRows)
      .execute();
    if (rows.length > 0) yield rows.map(recordOf);
    if (rows.length < pageRows) return;
    last = rows.at(-1)!.id;
  }
}
