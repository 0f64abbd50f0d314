import type { Kysely, Transaction } from 'kysely';
import type { PlanLimits } from '../gateway/auth/key-record.ts';
import type { Store } from './database/open.ts';
import type { PlanTable, Schema } from './database/schema.ts';
import { nextVersion, transactAndNotify, writeAudit } from './database/transaction.ts';

export type Plan = Readonly<{ id: string; name: string; limits: PlanLimits }>;

export const DEFAULT_PLAN_ID = 'default';

/**
 * Writes the configured plans to the store. Changed plans reach their keys through the key feed. Plans
 * missing from the configuration stay, because keys may refer to them.
 */
export async function syncPlans(store: Store, plans: readonly Plan[], actor: string): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const stale: Plan[] = [];
    for (const plan of plans) if (!(await isCurrent(store.db, plan))) stale.push(plan);
    if (stale.length === 0 || (await writePlans(store, stale, actor))) return;
  }
}

/** Attempts when other processes write plans at the same time. */
const TRIES_MAX = 10;

/**
 * Adds missing plans and leaves the others unchanged: for commands whose configuration may differ from the
 * service's.
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

/** Another process wrote the same plan between read and lock; the transaction is rolled back. */
class ConcurrentWriteError extends Error {}

/** @returns false if another process wrote one of the plans first. */
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
 * Moves keys on the customer's previous plan to its new one, within the transaction that changes the
 * customer. Keys with a plan of their own keep it.
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
