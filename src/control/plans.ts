import type { Kysely, Transaction } from 'kysely';
import type { PlanLimits } from '../gateway/auth/key-record.ts';
import type { Store } from './database/open.ts';
import type { PlanTable, Schema } from './database/schema.ts';
import { nextVersion, transactAndNotify, writeAudit } from './database/transaction.ts';

/** A plan as the configuration names it. */
export type Plan = Readonly<{ id: string; name: string; limits: PlanLimits }>;

/** The plan of keys for which none was named; the configuration always has it. */
export const DEFAULT_PLAN_ID = 'default';

/**
 * Makes the store's plans those given: new ones are added, changed ones reach every key of the plan through the
 * feed, all of them or none. A plan that is no longer given stays as it is, because keys may refer to it.
 */
export async function syncPlans(store: Store, plans: readonly Plan[], actor: string): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const stale: Plan[] = [];
    for (const plan of plans) if (!(await isCurrent(store.db, plan))) stale.push(plan);
    if (stale.length === 0 || (await writePlans(store, stale, actor))) return;
  }
}

/** Others that write plans at the same time have written those of theirs after so many tries. */
const TRIES_MAX = 10;

/**
 * Adds the plans that the store does not have and leaves the others as they are: for programs beside the
 * service, whose configuration may not be the service's.
 */
export async function addMissingPlans(store: Store, plans: readonly Plan[], actor: string): Promise<void> {
  const rows = await store.db.selectFrom('plan').select('id').execute();
  const existingIds = new Set(rows.map(({ id }) => id));
  await syncPlans(
    store,
    plans.filter(({ id }) => !existingIds.has(id)),
    actor,
  );
}

/** What the store keeps of a plan beside its id. */
function columnsOf({ name, limits }: Plan): Omit<PlanTable, 'id' | 'version'> {
  return {
    name,
    rpc_per_second: limits.rpcPerSecond,
    rpc_burst: limits.rpcBurst,
    ws_connections_max: limits.wsConnectionsMax,
    ws_subscriptions_max: limits.wsSubscriptionsMax,
    ws_message_max_bytes: limits.wsMessageMaxBytes,
    grpc_streams_max: limits.grpcStreamsMax,
    grpc_filters_max: limits.grpcFiltersMax,
    grpc_blocks_max: limits.grpcBlocksMax,
    grpc_pubkeys_max: limits.grpcPubkeysMax,
    grpc_cuckoo_max_bytes: limits.grpcCuckooMaxBytes,
    monthly_credits: limits.monthlyCredits,
    quota_is_hard: limits.quotaIsHard ? 1 : 0,
    stream_credits: limits.streamCredits,
    prices: JSON.stringify(limits.prices),
  };
}

async function isCurrent(db: Kysely<Schema>, plan: Plan): Promise<boolean> {
  const row = await db.selectFrom('plan').selectAll().where('id', '=', plan.id).executeTakeFirst();
  if (row === undefined) return false;
  return Object.entries(columnsOf(plan)).every(([column, value]) => row[column as keyof PlanTable] === value);
}

/** Another process wrote the same plan between the look and the lock: the change is rolled back, number and all. */
class ConcurrentWriteError extends Error {}

/** @returns whether they are written; else another process was quicker with one of them. */
async function writePlans(store: Store, plans: readonly Plan[], actor: string): Promise<boolean> {
  try {
    await transactAndNotify(store, async (trx) => {
      for (const plan of plans) await writePlanIn(trx, plan, actor);
    });
    return true;
  } catch (error) {
    if (error instanceof ConcurrentWriteError) return false;
    throw error;
  }
}

async function writePlanIn(trx: Transaction<Schema>, plan: Plan, actor: string): Promise<void> {
  const version = await nextVersion(trx);
  if (await isCurrent(trx, plan)) throw new ConcurrentWriteError();
  const values = { ...columnsOf(plan), version };
  await trx
    .insertInto('plan')
    .values({ id: plan.id, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .execute();
  const detail = { plan: plan.id, ...plan.limits, prices: values.prices };
  await writeAudit(trx, version, { at: Date.now(), actor, action: 'plan.set', keyId: null, detail });
}

/** What a plan's row allows. */
export const planLimitsOf = (row: Omit<PlanTable, 'id' | 'name' | 'version'>): PlanLimits => ({
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
  monthlyCredits: row.monthly_credits,
  quotaIsHard: row.quota_is_hard !== 0,
  streamCredits: row.stream_credits,
  prices: JSON.parse(row.prices) as PlanLimits['prices'],
});

/**
 * Gives the keys of a customer that have its plan the other one, in the transaction that changes the customer: its own
 * number tells gateways of them. Keys for which another plan was chosen keep that.
 */
export async function moveKeysOfPlan(
  trx: Transaction<Schema>,
  customerId: string,
  from: string,
  to: string,
): Promise<void> {
  await trx
    .updateTable('api_key')
    .set({ plan_id: to })
    .where('customer_id', '=', customerId)
    .where('plan_id', '=', from)
    .execute();
}
