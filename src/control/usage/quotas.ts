import { sql } from 'kysely';
import type { QuotaJson } from '../api/contract/usage.ts';
import type { Store } from '../database/store.ts';
import {
  type Axis,
  axisOver,
  monthRange,
  readSums,
  segmentsOf,
  stepMs,
  totalRowsOf,
  type UsageFilter,
  zeros,
} from './read-usage.ts';

/** Credits per day of the calendar month (UTC), up to and including the current day. */
export async function creditsByDay(store: Store, filter: UsageFilter, atMs: number): Promise<number[]> {
  const axis = axisOver('day', monthRange(atMs).from, atMs + 1);
  const days = zeros(axis);
  await readSums(store, { axis, filter }, [], ({ at, credits }) => {
    days[at] = (days[at] ?? 0) + credits;
  });
  return days;
}

/** Credits used in the calendar month (UTC), excluding usage since the last flush. */
export async function creditsUsed(store: Store, filter: UsageFilter, atMs: number): Promise<number> {
  const days = await creditsByDay(store, filter, atMs);
  return days.reduce((sum, day) => sum + day, 0);
}

/** Like `creditsUsed`, for many customers at once; without those that used none. */
export async function creditsOfCustomers(
  { db }: Store,
  customerIds: readonly string[],
  atMs: number,
): Promise<Map<string, number>> {
  const credits = new Map<string, number>();
  if (customerIds.length === 0) return credits;
  const axis = axisOver('day', monthRange(atMs).from, atMs + 1);
  for (const segment of await segmentsOf(db, 'total', axis)) {
    const { rows } = await sql<{ customer_id: string; credits: number }>`
      select customer_id, cast(sum(credits) as bigint) as credits from ${totalRowsOf(segment)}
      and customer_id in (${sql.join(customerIds)}) group by customer_id`.execute(db);
    for (const row of rows) credits.set(row.customer_id, (credits.get(row.customer_id) ?? 0) + row.credits);
  }
  return credits;
}

const PACE_HOURS = 7 * 24;
/** Minimum history for a projection. */
const PACE_HOURS_MIN = 24;

async function plansOf({ db }: Store, customerId: string) {
  return db
    .selectFrom('plan')
    .selectAll()
    .where('id', 'in', (select) =>
      select
        .selectFrom('customer')
        .select('plan_id')
        .where('id', '=', customerId)
        .union(select.selectFrom('api_key').select('plan_id').where('customer_id', '=', customerId)),
    )
    .orderBy('id')
    .execute();
}

/** Credits per hour over the last week; null if there is less than a day of history. */
async function paceOf(store: Store, filter: UsageFilter, nowMs: number): Promise<number | null> {
  const whole = axisOver('hour', nowMs - PACE_HOURS * stepMs.hour, nowMs);
  // Excludes the current hour, which is incomplete.
  const axis: Axis = { ...whole, to: Math.floor(nowMs / stepMs.hour) };
  let first = Number.POSITIVE_INFINITY;
  let credits = 0;
  await readSums(store, { axis, filter }, [], (row) => {
    if (row.credits > 0) first = Math.min(first, row.at);
    credits += row.credits;
  });
  const hours = axis.to - axis.from - first;
  return hours >= PACE_HOURS_MIN ? credits / hours : null;
}

/** @param pace - credits per hour; null: unknown. */
function outlookOf(
  { used, limit, periodTo }: Pick<QuotaJson, 'used' | 'limit' | 'periodTo'>,
  pace: number | null,
  nowMs: number,
): Pick<QuotaJson, 'projected' | 'exhaustedAt'> {
  if (pace === null) return { projected: null, exhaustedAt: null };
  const projected = Math.round(used + (pace * (periodTo - nowMs)) / stepMs.hour);
  if (limit === null || projected < limit || pace === 0) return { projected, exhaustedAt: null };
  const exhaustedAt = Math.round(nowMs + (Math.max(0, limit - used) / pace) * stepMs.hour);
  return { projected, exhaustedAt: exhaustedAt < periodTo ? exhaustedAt : null };
}

/** Returns one quota for each plan that the customer or any of its keys uses. */
export async function quotasOf(store: Store, customerId: string, nowMs: number): Promise<QuotaJson[]> {
  const { from: periodFrom, to: periodTo } = monthRange(nowMs);
  const quotas: QuotaJson[] = [];
  for (const plan of await plansOf(store, customerId)) {
    const { id: planId, name: planName } = plan;
    const used = await creditsUsed(store, { customerId, planId }, nowMs);
    const limit = plan.monthly_credits === 0 ? null : plan.monthly_credits;
    const isHard = plan.quota_is_hard === 1;
    const pace = await paceOf(store, { customerId, planId }, nowMs);
    const quota = { planId, planName, limit, isHard, used, periodFrom, periodTo };
    quotas.push({ ...quota, ...outlookOf(quota, pace, nowMs) });
  }
  return quotas;
}
