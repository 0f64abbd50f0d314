import type { Kysely } from 'kysely';
import type { Store } from '../database/open.ts';
import type { Schema } from '../database/schema.ts';
import type { DirtyBucketKind, UsageStep } from '../database/tables/usage.ts';
import { rollDay, rollHour } from './roll-details.ts';
import { rollMinute, rollTotals } from './roll-totals.ts';
import { clearDirty, listDirtyBuckets, readDirtyBucket } from './rollup-dirty-buckets.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Buckets of one kind in a round; what is left comes with the next. */
const BUCKETS_PER_ROUND = 500;

/** What is rolled up, what from first. */
type RollUp = Readonly<{
  kind: DirtyBucketKind;
  /** How long a bucket is. */
  ms: number;
  /** How long after its end it is made: writers may be late by a flush, and finer ones come first. */
  afterMs: number;
  /** What it is made of, and how many of them. */
  of: UsageStep;
  count: number;
  roll(store: Store, bucket: number): Promise<boolean>;
}>;

const rollUps: readonly RollUp[] = [
  { kind: 'minute', ms: MINUTE_MS, afterMs: 5 * SECOND_MS, of: 'minute', count: 1, roll: rollMinute },
  {
    kind: 'total_hour',
    ms: HOUR_MS,
    afterMs: MINUTE_MS,
    of: 'minute',
    count: 60,
    roll: (store, hour) => rollTotals(store, 'hour', hour),
  },
  {
    kind: 'total_day',
    ms: DAY_MS,
    afterMs: 2 * MINUTE_MS,
    of: 'hour',
    count: 24,
    roll: (store, day) => rollTotals(store, 'day', day),
  },
  { kind: 'hour', ms: HOUR_MS, afterMs: MINUTE_MS, of: 'minute', count: 60, roll: rollHour },
  { kind: 'day', ms: DAY_MS, afterMs: 2 * MINUTE_MS, of: 'hour', count: 24, roll: rollDay },
];

/** Whether anything is marked and over. */
export async function isSomethingDue({ db }: Store, nowMs: number): Promise<boolean> {
  for (const { kind, ms, afterMs } of rollUps) {
    const end = Math.floor((nowMs - afterMs) / ms);
    if ((await listDirtyBuckets(db, kind, end, 1)).length > 0) return true;
  }
  return false;
}

async function retentionStartOf(db: Kysely<Schema>, step: UsageStep): Promise<number> {
  const row = await db
    .selectFrom('usage_horizon')
    .select('bucket')
    .where('step', '=', step)
    .executeTakeFirst();
  return row?.bucket ?? 0;
}

/**
 * Makes anew whatever is marked and over. Any number may do it at once, and it may be broken off anywhere: a bucket is
 * written only if what it was made of has not changed since.
 * @param goOn - is asked before each bucket; false ends the round.
 * @returns how many buckets were made.
 */
export async function rollUp(
  store: Store,
  nowMs: number,
  shouldContinue: () => Promise<boolean>,
): Promise<number> {
  let rolledUp = 0;
  for (const { kind, ms, afterMs, of, count, roll } of rollUps) {
    const end = Math.floor((nowMs - afterMs) / ms);
    const retentionStart = await retentionStartOf(store.db, of);
    for (const bucket of await listDirtyBuckets(store.db, kind, end, BUCKETS_PER_ROUND)) {
      if (!(await shouldContinue())) return rolledUp;
      if (bucket * count < retentionStart) await dropMarks(store, kind, bucket);
      else if (await roll(store, bucket)) rolledUp++;
    }
  }
  return rolledUp;
}

/** What the bucket is made of was deleted while somebody wrote to it: it stays as it was rolled up before. */
async function dropMarks({ db }: Store, kind: DirtyBucketKind, bucket: number): Promise<void> {
  const seen = await readDirtyBucket(db, kind, bucket);
  if (seen.tokens.size > 0) await db.transaction().execute((trx) => clearDirty(trx, seen));
}
