import type { Kysely, Transaction } from 'kysely';
import type { PlanLimits } from '../gateway/auth/key-record.ts';
import type { PlanPrice } from './billing/plan-fields.ts';
import { isSamePrice, readPrice, writePrice } from './billing/plan-price.ts';
import { deleteRows, findRow, upsertRow } from './database/rows.ts';
import type { PlanTable, Schema } from './database/schema.ts';
import type { Store } from './database/store.ts';
import { nextVersion, transactAndNotify, writeAudit } from './database/transaction.ts';

export type Plan = Readonly<{
  id: string;
  name: string;
  limits: PlanLimits;
  /** Absent or null: the plan has no price. */
  price?: PlanPrice | null | undefined;
}>;

export const DEFAULT_PLAN_ID = 'default';

/** Maximum attempts while other processes write plans at the same time. */
const TRIES_MAX = 10;

/** Writes the configured plans to the store. Keeps all other plans, because keys may refer to them. */
export async function syncPlans(store: Store, plans: readonly Plan[], actor: string): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const stale: Plan[] = [];
    for (const plan of plans) if (!(await isCurrent(store.db, plan))) stale.push(plan);
    if (stale.length === 0 || (await writePlans(store, stale, actor))) return;
  }
}

/** Adds only missing plans, because a command's configuration may differ from the service's. */
export async function addMissingPlans(store: Store, plans: readonly Plan[], actor: string): Promise<void> {
  const rows = await store.db.selectFrom('plan').select('id').execute();
  const existingIds = new Set(rows.map(({ id }) => id));
  const missing = plans.filter(({ id }) => !existingIds.has(id));
  await syncPlans(store, missing, actor);
}

const numericColumns = {
  rpcPerSecond: 'rpc_per_second',
  rpcBurst: 'rpc_burst',
  wsConnectionsMax: 'ws_connections_max',
  wsSubscriptionsMax: 'ws_subscriptions_max',
  wsMessageMaxBytes: 'ws_message_max_bytes',
  grpcStreamsMax: 'grpc_streams_max',
  grpcFiltersMax: 'grpc_filters_max',
  grpcBlocksMax: 'grpc_blocks_max',
  grpcPubkeysMax: 'grpc_pubkeys_max',
  grpcCuckooMaxBytes: 'grpc_cuckoo_max_bytes',
  monthlyCredits: 'monthly_credits',
  streamCredits: 'stream_credits',
} as const;

type NumericLimits = Record<keyof typeof numericColumns, number>;
type NumericColumn = (typeof numericColumns)[keyof typeof numericColumns];

const numericLimits = Object.entries(numericColumns) as [keyof NumericLimits, NumericColumn][];

export const planLimitColumns = [...Object.values(numericColumns), 'quota_is_hard', 'prices'] as const;

export type PlanLimitRow = Omit<PlanTable, 'id' | 'name' | 'version' | 'archived_at'>;

const columnsOf = ({ name, limits }: Plan): PlanLimitRow & Pick<PlanTable, 'name'> => ({
  ...(Object.fromEntries(numericLimits.map(([limit, column]) => [column, limits[limit]])) as Record<
    NumericColumn,
    number
  >),
  name,
  quota_is_hard: limits.quotaIsHard ? 1 : 0,
  prices: JSON.stringify(limits.prices),
});

export const planLimitsOf = (row: PlanLimitRow): PlanLimits => ({
  ...(Object.fromEntries(numericLimits.map(([limit, column]) => [limit, row[column]])) as NumericLimits),
  quotaIsHard: row.quota_is_hard !== 0,
  prices: JSON.parse(row.prices) as PlanLimits['prices'],
});

async function isCurrent(db: Kysely<Schema>, plan: Plan): Promise<boolean> {
  const row = await findRow(db, 'plan', { id: plan.id });
  if (row === undefined || row.archived_at !== null) return false;
  if (!isSamePrice(await readPrice(db, plan.id), plan.price ?? null)) return false;
  return Object.entries(columnsOf(plan)).every(([column, value]) => row[column as keyof PlanTable] === value);
}

/** Thrown to roll back a transaction if another process wrote the same plan before the transaction got the lock. */
class ConcurrentWriteError extends Error {}

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
  const at = Date.now();
  await savePlan(trx, plan, version, at);
  // The configuration replaces what was edited before.
  await deleteRows(trx, 'plan_undo', { subject: planSubject(plan.id) });
  await writeAudit(trx, version, { at, actor, action: 'plan.set', detail: auditDetailOf(plan) });
}

/** Subject of a row in plan_undo. */
export const planSubject = (planId: string): string => `plan:${planId}`;

/** Inserts or replaces a plan, which is then not archived. */
export async function savePlan(
  trx: Transaction<Schema>,
  plan: Plan,
  version: number,
  nowMs: number,
): Promise<void> {
  await upsertRow(trx, 'plan', { id: plan.id }, { ...columnsOf(plan), archived_at: null, version });
  await writePrice(trx, plan.id, plan.price ?? null, nowMs);
}

export const auditDetailOf = ({ id, name, limits, price }: Plan) => ({
  ...{ plan: id, name },
  ...limits,
  prices: JSON.stringify(limits.prices),
  ...price,
});
