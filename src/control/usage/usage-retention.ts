import { setImmediate } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Store } from '../database/open.ts';
import { deleteRows, upsertRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { DirtyBucketKind, UsageStep } from '../database/tables/usage.ts';

const DAY_MS = 86_400_000;

export const usageRetention = { minutesDays: 8, hoursDays: 90, daysDays: 400 };
export type UsageRetention = Readonly<typeof usageRetention>;

/**
 * One level of pruning: the coarser unit that is deleted as a whole has `per` buckets of the step and the
 * length `ms`. Pending roll-ups with these marks block the deletion.
 */
type Level = Readonly<{
  step: UsageStep;
  ms: number;
  per: number;
  marks: readonly Readonly<{ kind: DirtyBucketKind; per: number }>[];
}>;

const minutes: Level = {
  step: 'minute',
  ms: DAY_MS / 24,
  per: 60,
  marks: [
    { kind: 'minute', per: 60 },
    { kind: 'hour', per: 1 },
    { kind: 'total_hour', per: 1 },
  ],
};

const hours: Level = {
  step: 'hour',
  ms: DAY_MS,
  per: 24,
  marks: [
    { kind: 'minute', per: 1_440 },
    { kind: 'hour', per: 24 },
    { kind: 'total_hour', per: 24 },
    { kind: 'day', per: 1 },
    { kind: 'total_day', per: 1 },
  ],
};

const days: Level = { step: 'day', ms: DAY_MS, per: 1, marks: [] };

/** All three tables have a column with the name of the step. */
const tableOf = (step: UsageStep): 'usage_hour' => `usage_${step}` as 'usage_hour';

async function oldestBucket(db: Kysely<Schema>, step: UsageStep): Promise<number | null> {
  const row = await db
    .selectFrom(tableOf(step))
    .select((select) => select.fn.min<number | null>(step as 'hour').as('oldest'))
    .executeTakeFirst();
  return row?.oldest ?? null;
}

async function isRolledUp(db: Kysely<Schema>, level: Level, unit: number): Promise<boolean> {
  for (const { kind, per } of level.marks) {
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

/**
 * Moves the start of retention past a unit if it is fully rolled up. Later writes before it are rejected, so
 * that a late writer cannot create a partial hour.
 */
function advanceRetention(store: Store, level: Level, unit: number): Promise<boolean> {
  const bucket = (unit + 1) * level.per;
  return store.db.transaction().execute(async (trx) => {
    await upsertRow(trx, 'usage_horizon', { step: level.step }, { bucket });
    if (await isRolledUp(trx, level, unit)) return true;
    // Rolls the transaction back.
    throw new NotRolledUp();
  });
}

class NotRolledUp extends Error {}

async function canDelete(store: Store, level: Level, unit: number): Promise<boolean> {
  try {
    return await advanceRetention(store, level, unit);
  } catch (error) {
    if (error instanceof NotRolledUp) return false;
    throw error;
  }
}

async function removeUnit({ db }: Store, level: Level, unit: number, oldest: number): Promise<void> {
  const end = (unit + 1) * level.per;
  for (let bucket = Math.max(oldest, unit * level.per); bucket < end; bucket++) {
    await deleteRows(db, tableOf(level.step), { [level.step]: bucket });
    for (const table of ['usage_total', 'usage_method'] as const) {
      await deleteRows(db, table, { step: level.step, bucket });
    }
    await setImmediate();
  }
}

async function pruneLevel(store: Store, level: Level, retentionDays: number, nowMs: number): Promise<void> {
  const end = Math.floor((nowMs - retentionDays * DAY_MS) / level.ms);
  for (;;) {
    const oldest = await oldestBucket(store.db, level.step);
    if (oldest === null) return;
    const unit = Math.floor(oldest / level.per);
    if (unit >= end || !(await canDelete(store, level, unit))) return;
    await removeUnit(store, level, unit, oldest);
  }
}

async function pruneBookkeeping({ db }: Store, retention: UsageRetention, nowMs: number): Promise<void> {
  const hour = Math.floor((nowMs - retention.minutesDays * DAY_MS) / (DAY_MS / 24));
  await db.deleteFrom('usage_seen').where('hour', '<', hour).execute();
  await db
    .deleteFrom('usage_epoch')
    .where('written_at', '<', nowMs - retention.daysDays * DAY_MS)
    .execute();
}

/**
 * Deletes expired minutes, hours and days, oldest first. Buckets that are not rolled up stay, with everything
 * newer.
 */
export async function pruneUsage(store: Store, retention: UsageRetention, nowMs: number): Promise<void> {
  // Coarser steps must live at least as long as finer ones, or they would be rebuilt.
  const hoursDays = Math.max(retention.minutesDays, retention.hoursDays);
  const daysDays = Math.max(hoursDays, retention.daysDays);
  await pruneLevel(store, minutes, retention.minutesDays, nowMs);
  await pruneLevel(store, hours, hoursDays, nowMs);
  await pruneLevel(store, days, daysDays, nowMs);
  await pruneBookkeeping(store, retention, nowMs);
}
