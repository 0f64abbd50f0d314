import type { Store } from '../database/open.ts';
import { type Axis, axisOver, monthOf, sumsOf, type UsageFilter, zeros } from './read-usage.ts';

/**
 * Credits of each day of a calendar month (UTC), up to a moment; the last one is the day that runs.
 * @param atMs - a moment of the month, Unix milliseconds.
 */
export async function creditsByDay(store: Store, filter: UsageFilter, atMs: number): Promise<number[]> {
  const axis = axisOver('day', monthOf(atMs).from, atMs + 1);
  const days = zeros(axis);
  for await (const rows of sumsOf(store, axis, filter, [])) {
    for (const { at, credits } of rows) days[at] = (days[at] ?? 0) + credits;
  }
  return days;
}

/**
 * Credits that a customer's keys used under a plan in a calendar month (UTC), as far as the store knows: all gateways
 * together, to within a flush.
 * @param atMs - a moment of the month, Unix milliseconds.
 */
async function creditsUsed(store: Store, customerId: string, planId: string, atMs: number): Promise<number> {
  const days = await creditsByDay(store, { customerId, planId }, atMs);
  return days.reduce((sum, day) => sum + day, 0);
}

const HOUR_MS = 3_600_000;
/** The pace is that of as much time. */
const PACE_HOURS = 7 * 24;
/** With less to go by nothing is foretold. */
const PACE_HOURS_MIN = 24;

/** Where a customer's quota stands, for one plan. Times are Unix milliseconds. */
type QuotaState = Readonly<{
  planId: string;
  planName: string;
  /** null: no quota. */
  limit: number | null;
  isHard: boolean;
  used: number;
  periodFrom: number;
  periodTo: number;
  projected: number | null;
  exhaustedAt: number | null;
}>;

/** The customer's own plan and those of its keys. */
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

/** Credits an hour over the last week, or since the first of them; null while there is less than a day to go by. */
async function paceOf(
  store: Store,
  customerId: string,
  planId: string,
  nowMs: number,
): Promise<number | null> {
  const whole = axisOver('hour', nowMs - PACE_HOURS * HOUR_MS, nowMs);
  // The hour that runs is not over.
  const axis: Axis = { ...whole, to: Math.floor(nowMs / HOUR_MS) };
  let first = Number.POSITIVE_INFINITY;
  let credits = 0;
  for await (const rows of sumsOf(store, axis, { customerId, planId }, [])) {
    for (const row of rows) {
      if (row.credits > 0) first = Math.min(first, row.at);
      credits += row.credits;
    }
  }
  const hours = axis.to - axis.from - first;
  return hours >= PACE_HOURS_MIN ? credits / hours : null;
}

type Outlook = Pick<QuotaState, 'projected' | 'exhaustedAt'>;

/**
 * What comes of a month if it goes on at a pace.
 * @param pace - credits an hour; null: unknown.
 */
function outlookOf(
  { used, limit, periodTo }: Pick<QuotaState, 'used' | 'limit' | 'periodTo'>,
  pace: number | null,
  nowMs: number,
): Outlook {
  if (pace === null) return { projected: null, exhaustedAt: null };
  const projected = Math.round(used + (pace * (periodTo - nowMs)) / HOUR_MS);
  if (limit === null || projected < limit || pace === 0) return { projected, exhaustedAt: null };
  const exhaustedAt = Math.round(nowMs + (Math.max(0, limit - used) / pace) * HOUR_MS);
  return { projected, exhaustedAt: exhaustedAt < periodTo ? exhaustedAt : null };
}

/** Where the quotas of a customer stand, one for each plan that it has or its keys have. */
export async function quotasOf(store: Store, customerId: string, nowMs: number): Promise<QuotaState[]> {
  const { from: periodFrom, to: periodTo } = monthOf(nowMs);
  const quotas: QuotaState[] = [];
  for (const { id: planId, name: planName, monthly_credits, quota_is_hard } of await plansOf(
    store,
    customerId,
  )) {
    const used = await creditsUsed(store, customerId, planId, nowMs);
    const limit = monthly_credits === 0 ? null : monthly_credits;
    const pace = await paceOf(store, customerId, planId, nowMs);
    const outlook = outlookOf({ used, limit, periodTo }, pace, nowMs);
    quotas.push({
      planId,
      planName,
      limit,
      isHard: quota_is_hard === 1,
      used,
      periodFrom,
      periodTo,
      ...outlook,
    });
  }
  return quotas;
}
