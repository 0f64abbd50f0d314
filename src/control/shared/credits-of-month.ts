import { sql } from 'kysely';
import type { RemoteUsage } from '../../gateway/limits/quota.ts';
import type { Store } from '../database/open.ts';

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_HOURS = 24;

type Row = Readonly<{ customer_id: string; plan_id: string; credits: number | string }>;

const usedOf = ({ customer_id, plan_id, credits }: Row): RemoteUsage => ({
  customerId: customer_id,
  planId: plan_id,
  credits: Number(credits),
});

/** Plans of which anybody asks how much is left. */
const withQuota = sql`(select id from plan where monthly_credits > 0)`;

/**
 * The hour from which on totals are not to be trusted: that before the one that runs, or an earlier one of which
 * something is still to be rolled up.
 */
async function firstOpenHour({ db }: Store, nowMs: number): Promise<number> {
  const hour = Math.floor(nowMs / MINUTE_MS / HOUR_MINUTES);
  const today = Math.floor(hour / DAY_HOURS);
  const { rows } = await sql<{ hour: number | null }>`
    select min(case kind when 'minute' then bucket / ${sql.lit(HOUR_MINUTES)}
        when 'total_day' then bucket * ${sql.lit(DAY_HOURS)} else bucket end) as hour
      from usage_mark
      where kind in ('minute', 'total_hour') or (kind = 'total_day' and bucket < ${today})`.execute(db);
  const marked = rows[0]?.hour ?? null;
  return Math.min(hour - 1, marked === null ? hour : Number(marked));
}

/**
 * Credits that were used since the month began, by customer and plan, for plans with a quota: days and hours of which
 * everything was rolled up by their totals, and the rest by its minutes.
 * @param monthStart - Unix milliseconds.
 */
export async function creditsOfMonth(
  store: Store,
  monthStart: number,
  nowMs: number,
): Promise<RemoteUsage[]> {
  const firstHour = Math.floor(monthStart / MINUTE_MS / HOUR_MINUTES);
  const openHour = Math.max(firstHour, await firstOpenHour(store, nowMs));
  const openDay = Math.floor(openHour / DAY_HOURS);
  const { rows } = await sql<Row>`
    select customer_id, plan_id, sum(credits) as credits from (
      select customer_id, plan_id, credits from usage_total
        where step = 'day' and bucket >= ${firstHour / DAY_HOURS} and bucket < ${openDay}
          and plan_id in ${withQuota}
      union all
      select customer_id, plan_id, credits from usage_total
        where step = 'hour' and bucket >= ${openDay * DAY_HOURS} and bucket < ${openHour}
          and plan_id in ${withQuota}
      union all
      select customer_id, plan_id, credits from usage_minute
        where minute >= ${openHour * HOUR_MINUTES} and plan_id in ${withQuota}
    ) as used group by customer_id, plan_id`.execute(store.db);
  return rows.map(usedOf);
}

/** Credits of others since a minute: those of minutes that need not be asked for again, and the rest. */
export type RecentCredits = Readonly<{ settled: RemoteUsage[]; open: RemoteUsage[] }>;

/**
 * Credits that other runs used since a minute.
 * @param epoch - this run, which is left out.
 * @param fromMinute - Unix minutes, as the next one.
 * @param settledBefore - minutes before it are settled.
 */
export async function creditsOfOthers(
  { db }: Store,
  epoch: string,
  fromMinute: number,
  settledBefore: number,
): Promise<RecentCredits> {
  const { rows } = await sql<Row & { settled: number }>`
    select customer_id, plan_id, settled, sum(credits) as credits from (
      select customer_id, plan_id, credits, case when minute < ${settledBefore} then 1 else 0 end as settled
        from usage_minute
        where minute >= ${fromMinute} and epoch <> ${epoch} and plan_id in ${withQuota}
    ) as used group by customer_id, plan_id, settled`.execute(db);
  const of = (settled: number): RemoteUsage[] =>
    rows.filter((row) => Number(row.settled) === settled).map(usedOf);
  return { settled: of(1), open: of(0) };
}
