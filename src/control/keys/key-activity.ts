import { sql } from 'kysely';
import type { Store } from '../database/open.ts';

/** What a key did lately. */
export type KeyActivity = Readonly<{
  /** Credits of this calendar month (UTC). */
  creditsUsed: number;
  /** Requests of each of the last 24 hours, the oldest first; the last one is the hour that runs. */
  requests24h: number[];
  /** How many of them had no result. */
  errors24h: number;
}>;

const HOUR_MS = 3_600_000;
const HOURS = 24;

const idle = () => ({ creditsUsed: 0, requests24h: Array<number>(HOURS).fill(0), errors24h: 0 });

/**
 * What keys did lately, from the hours and days of usage: as fresh as those.
 * @param keyIds - those of a page; nothing is read for others.
 * @param now - Unix milliseconds.
 */
export async function activityOf(
  { db }: Store,
  keyIds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, KeyActivity>> {
  const activity = new Map(keyIds.map((id) => [id, idle()]));
  if (keyIds.length === 0) return activity;
  const hour = Math.floor(now / HOUR_MS);
  const date = new Date(now);
  const monthStart = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / (24 * HOUR_MS);
  const hours = await db
    .selectFrom('usage_hour')
    .select(({ fn }) => ['key_id', 'hour', fn.sum<number>('requests').as('requests')])
    .select(sql<number>`sum(case when status = 'ok' then 0 else requests end)`.as('errors'))
    .where('key_id', 'in', keyIds)
    .where('hour', '>', hour - HOURS)
    .where('hour', '<=', hour)
    .groupBy(['key_id', 'hour'])
    .execute();
  const month = await db
    .selectFrom('usage_day')
    .select(({ fn }) => ['key_id', fn.sum<number>('credits').as('credits')])
    .where('key_id', 'in', keyIds)
    .where('day', '>=', monthStart)
    .groupBy('key_id')
    .execute();
  for (const row of hours) {
    const one = activity.get(row.key_id)!;
    one.requests24h[row.hour - hour + HOURS - 1] = Number(row.requests);
    one.errors24h += Number(row.errors);
  }
  for (const { key_id, credits } of month) activity.get(key_id)!.creditsUsed = Number(credits);
  return activity;
}
