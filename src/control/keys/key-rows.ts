import type { Selectable } from 'kysely';
import type { KeyId, KeyRecord, KeyRules, KeyStatus, PlanLimits } from '../../gateway/auth/key-record.ts';
import type { Network } from '../../protocol/call.ts';
import type { CustomerState } from '../accounts/roles.ts';
import type { Store } from '../database/open.ts';
import type { KeyTable, PlanTable } from '../database/schema.ts';
import { planLimitsOf } from '../plans.ts';
import { notExpired } from './expired-keys.ts';

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
  'plan.monthly_credits',
  'plan.quota_is_hard',
  'plan.stream_credits',
  'plan.prices',
] as const;

type Row = Selectable<KeyTable> &
  Omit<PlanTable, 'id' | 'name' | 'version'> & {
    plan_version: number;
    customer_version: number;
    customer_state: CustomerState;
  };

/** A key's own rate, which never goes beyond that of its plan; 0 is no limit. */
function rateOf(own: number | null, plan: number): number {
  if (own === null) return plan;
  return plan === 0 ? own : Math.min(own, plan);
}

/** Those of the plan, with the key's own rate where it has one. */
const limitsOf = (row: Row): PlanLimits => ({
  ...planLimitsOf(row),
  rpcPerSecond: rateOf(row.rate_per_second, row.rpc_per_second),
  rpcBurst: Math.min(row.rate_burst ?? row.rpc_burst, row.rpc_burst),
});

const listOf = (joined: string): readonly string[] | null => (joined === '' ? null : joined.split(','));

const rulesOf = (row: Row): KeyRules => ({
  networks: listOf(row.networks) as readonly Network[] | null,
  cidrs: listOf(row.cidrs),
  origins: listOf(row.origins),
  methods: listOf(row.methods),
});

/** Keys of a customer that is suspended stop, and are as they were when it no longer is. */
function stateOf({ state, customer_state }: Row): KeyStatus {
  return customer_state === 'active' || state === 'revoked' ? state : 'disabled';
}

function recordOf(row: Row): KeyRecord {
  return {
    id: row.id as KeyId,
    product: row.product,
    familyId: row.family_id,
    name: row.name,
    digest: Buffer.from(row.digest, 'hex'),
    pepperVersion: row.pepper_version,
    status: stateOf(row),
    expiresAt: row.expires_at,
    limits: limitsOf(row),
    customerId: row.customer_id,
    planId: row.plan_id,
    rules: rulesOf(row),
    addressPerSecond: row.address_per_second,
    logsBodies: row.logs_bodies !== 0,
    monotonicReads: row.never_back !== 0,
    version: Math.max(row.version, row.plan_version, row.customer_version),
  };
}

/** Where is read: the store, or a connection of one's own. */
type Source = Pick<Store, 'db'>;

function selectRecords(store: Source) {
  return store.db
    .selectFrom('api_key')
    .innerJoin('plan', 'plan.id', 'api_key.plan_id')
    .innerJoin('customer', 'customer.id', 'api_key.customer_id')
    .selectAll('api_key')
    .select([
      ...limitColumns,
      'plan.version as plan_version',
      'customer.version as customer_version',
      'customer.state as customer_state',
    ]);
}

/** The number of the newest change of any key or plan. */
export async function newestVersion(store: Source): Promise<number> {
  const row = await store.db.selectFrom('change_counter').select('version').executeTakeFirstOrThrow();
  return row.version;
}

/**
 * Keys that changed after `version`, in pages, oldest change first.
 * @param unspentAt - leaves out keys that are spent at this time (spent-keys.ts): for who holds none of them yet.
 */
export async function* keysChangedAfter(
  store: Source,
  version: number,
  pageRows: number,
  notExpiredAt: number | null = null,
): AsyncGenerator<KeyRecord[]> {
  let last = version;
  for (;;) {
    const rows = await selectRecords(store)
      .where('api_key.version', '>', last)
      .$if(notExpiredAt !== null, (query) => query.where(notExpired(notExpiredAt ?? 0)))
      .orderBy('api_key.version')
      .limit(pageRows)
      .execute();
    if (rows.length > 0) yield rows.map(recordOf);
    if (rows.length < pageRows) return;
    last = rows.at(-1)!.version;
  }
}

/**
 * Keys whose plan or customer changed after `version`, in pages by id. Spent ones are left out: neither is anything to
 * them.
 */
export async function* keysOfPlansChangedAfter(
  store: Source,
  version: number,
  pageRows: number,
): AsyncGenerator<KeyRecord[]> {
  let last = '';
  for (;;) {
    const rows = await selectRecords(store)
      .where((where) =>
        where.or([where('plan.version', '>', version), where('customer.version', '>', version)]),
      )
      .where(notExpired(Date.now()))
      .where('api_key.id', '>', last)
      .orderBy('api_key.id')
      .limit(pageRows)
      .execute();
    if (rows.length > 0) yield rows.map(recordOf);
    if (rows.length < pageRows) return;
    last = rows.at(-1)!.id;
  }
}
