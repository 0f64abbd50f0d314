import type { Kysely } from 'kysely';
import { deleteRows, upsertRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import { type MarkKind, totalTables, type UsageStep } from '../database/tables/usage.ts';
import { stepMs } from './read-usage.ts';
import { stepOfKind } from './usage-rows.ts';

export const usageRetention = { minutesDays: 8, hoursDays: 90, daysDays: 400 };
export type UsageRetention = Readonly<typeof usageRetention>;

/** Buckets of `step` are deleted one `unit` at a time, and only if no `blockedBy` roll-up is pending in the unit. */
type Level = Readonly<{ step: UsageStep; unit: UsageStep; blockedBy: readonly MarkKind[] }>;

const minutes: Level = { step: 'minute', unit: 'hour', blockedBy: ['minute', 'hour', 'total_hour'] };
const hours: Level = {
  step: 'hour',
  unit: 'day',
  blockedBy: ['minute', 'hour', 'total_hour', 'day', 'total_day'],
};
const days: Level = { step: 'day', unit: 'day', blockedBy: [] };

/** Number of buckets of `step` in one unit of the level. */
const perUnit = (level: Level, step: UsageStep): number => stepMs[level.unit] / stepMs[step];

/** Casts: usage_minute, usage_hour and usage_day each have a column named after their step. */
const tableOf = (step: UsageStep): 'usage_hour' => `usage_${step}` as 'usage_hour';

async function oldestBucket(db: Kysely<Schema>, step: UsageStep): Promise<number | null> {
  const row = await db
    .selectFrom(tableOf(step))
    .select((select) => select.fn.min<number | null>(step as 'hour').as('oldest'))
    .executeTakeFirst();
  return row?.oldest ?? null;
}

async function isRolledUp(db: Kysely<Schema>, level: Level, unit: number): Promise<boolean> {
  for (const kind of level.blockedBy) {
    const per = perUnit(level, stepOfKind[kind]);
    const mark = await db
      .selectFrom('usage_mark')
      .select('bucket')
      .where('kind', '=', kind)
      .where('bucket', '>=', unit * per)
      .where('bucket', '<', (unit + 1) * per)
      .limit(1)
      .executeTakeFirst();
    if (mark !== undefined) return false;
  }
  return true;
}

/** Moves the retention start past a rolled-up unit. Earlier usage is then rejected, to avoid partial hours. */
async function advanceRetention(store: Store, level: Level, unit: number): Promise<boolean> {
  const bucket = (unit + 1) * perUnit(level, level.step);
  try {
    await store.db.transaction().execute(async (trx) => {
      await upsertRow(trx, 'usage_horizon', { step: level.step }, { bucket });
      // Rolls back the transaction.
      if (!(await isRolledUp(trx, level, unit))) throw new NotRolledUp();
    });
    return true;
  } catch (error) {
    if (error instanceof NotRolledUp) return false;
    throw error;
  }
}

class NotRolledUp extends Error {}

async function removeUnit({ db }: Store, level: Level, unit: number, oldest: number): Promise<void> {
  const per = perUnit(level, level.step);
  for (let bucket = Math.max(oldest, unit * per); bucket < (unit + 1) * per; bucket++) {
    await deleteRows(db, tableOf(level.step), { [level.step]: bucket });
    for (const table of totalTables) {
      await deleteRows(db, table, { step: level.step, bucket });
    }
  }
}

async function pruneLevel(store: Store, level: Level, retentionDays: number, nowMs: number): Promise<void> {
  const end = Math.floor((nowMs - retentionDays * stepMs.day) / stepMs[level.unit]);
  for (;;) {
    const oldest = await oldestBucket(store.db, level.step);
    if (oldest === null) return;
    const unit = Math.floor(oldest / perUnit(level, level.step));
    if (unit >= end || !(await advanceRetention(store, level, unit))) return;
    await removeUnit(store, level, unit, oldest);
  }
}

async function pruneBookkeeping({ db }: Store, retention: UsageRetention, nowMs: number): Promise<void> {
  const hour = Math.floor((nowMs - retention.minutesDays * stepMs.day) / stepMs.hour);
  await db.deleteFrom('usage_seen').where('hour', '<', hour).execute();
  await db
    .deleteFrom('usage_epoch')
    .where('written_at', '<', nowMs - retention.daysDays * stepMs.day)
    .execute();
}

/** Deletes expired usage, oldest first. For each step, stops at the first unit that is not rolled up. */
export async function pruneUsage(store: Store, retention: UsageRetention, nowMs: number): Promise<void> {
  // A coarser bucket deleted before its finer buckets would be rebuilt from them.
  const hoursDays = Math.max(retention.minutesDays, retention.hoursDays);
  const daysDays = Math.max(hoursDays, retention.daysDays);
  await pruneLevel(store, minutes, retention.minutesDays, nowMs);
  await pruneLevel(store, hours, hoursDays, nowMs);
  await pruneLevel(store, days, daysDays, nowMs);
  await pruneBookkeeping(store, retention, nowMs);
}
