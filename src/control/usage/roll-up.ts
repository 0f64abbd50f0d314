import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Store } from '../database/open.ts';
import { deleteRows, insertRow, pagesOf, selectRows } from '../database/rows.ts';
import type { Schema, UsageMinuteTable } from '../database/schema.ts';
import type {
  DirtyBucketKind,
  UsageDetailTable,
  UsageMethodTable,
  UsageStep,
  UsageTotalTable,
} from '../database/tables/usage.ts';
import {
  clearDirty,
  type DirtyBucket,
  type DirtyBucketSnapshot,
  listDirtyBuckets,
  lockIfUnchanged,
  markDirty,
  readDirtyBucket,
  retentionStartOf,
} from './usage-rows.ts';
import { UsageSums } from './usage-sums.ts';

/** Few enough that SQLite blocks for only a few milliseconds. */
const PAGE_ROWS = 500;

type Totals = Readonly<{
  totals: UsageSums<Omit<UsageTotalTable, CounterColumn>>;
  methods: UsageSums<Omit<UsageMethodTable, CounterColumn>>;
}>;
type CounterColumn = 'requests' | 'bytes_in' | 'bytes_out' | 'credits' | 'messages' | 'latency';

const noTotals = (): Totals => ({ totals: new UsageSums(), methods: new UsageSums() });

/** Key columns of a row within a minute, in the order of the primary key. */
const minuteKeyColumns = ['epoch', 'key_id', 'product', 'method', 'status'] as const;

/** Pages of one minute. Concurrent writes may be missed; their mark reveals them. */
const minutePages = (db: Kysely<Schema>, minute: number) =>
  pagesOf<UsageMinuteTable>(PAGE_ROWS, async (last) => {
    let query = selectRows(db, 'usage_minute', { minute }).limit(PAGE_ROWS);
    for (const name of minuteKeyColumns) query = query.orderBy(name);
    if (last !== null) {
      await setImmediate();
      const names = sql.join(minuteKeyColumns.map((name) => sql.ref(name)));
      query = query.where(
        sql<boolean>`(${names}) > (${sql.join(minuteKeyColumns.map((name) => last[name]))})`,
      );
    }
    return query.execute();
  });

async function sumMinute(db: Kysely<Schema>, minute: number): Promise<Totals> {
  const sums = noTotals();
  for await (const rows of minutePages(db, minute)) {
    for (const row of rows) {
      const { customer_id, plan_id, product, method, status } = row;
      const bucketKey = { step: 'minute', bucket: minute, customer_id, product, status } as const;
      sums.totals.add({ ...bucketKey, plan_id }, row, 0);
      sums.methods.add({ ...bucketKey, method }, row, 0);
    }
  }
  return sums;
}

/** For each step: its finer step, how many of them it has, and the step built from it. */
const coarser = {
  hour: { kind: 'total_hour', of: 'minute', count: 60, next: 'total_day' },
  day: { kind: 'total_day', of: 'hour', count: 24, next: null },
} as const satisfies Record<
  string,
  { kind: DirtyBucketKind; of: UsageStep; count: number; next: DirtyBucketKind | null }
>;

async function sumFiner(db: Kysely<Schema>, step: keyof typeof coarser, bucket: number): Promise<Totals> {
  const { of, count } = coarser[step];
  const sums = noTotals();
  for (let finer = bucket * count; finer < (bucket + 1) * count; finer++) {
    const where = { step: of, bucket: finer };
    const totals = await selectRows(db, 'usage_total', where).execute();
    for (const { customer_id, plan_id, product, status, ...counters } of totals) {
      sums.totals.add({ step, bucket, customer_id, plan_id, product, status }, counters, 0);
    }
    const methods = await selectRows(db, 'usage_method', where).execute();
    for (const { customer_id, product, method, status, ...counters } of methods) {
      sums.methods.add({ step, bucket, customer_id, product, method, status }, counters, 0);
    }
    await setImmediate();
  }
  return sums;
}

/** Replaces the rows of a bucket unless its sources have changed. */
function replaceTotals(
  store: Store,
  seen: DirtyBucketSnapshot,
  step: UsageStep,
  { totals, methods }: Totals,
  next: DirtyBucket | null,
): Promise<boolean> {
  const { bucket } = seen;
  return store.db.transaction().execute(async (trx) => {
    if (!(await lockIfUnchanged(trx, seen))) return false;
    const replace = async (
      table: 'usage_total' | 'usage_method',
      rows: readonly { last_minute: number }[],
    ) => {
      await deleteRows(trx, table, { step, bucket });
      for (let from = 0; from < rows.length; from += PAGE_ROWS) {
        const values = rows.slice(from, from + PAGE_ROWS).map(({ last_minute: _, ...row }) => row);
        await insertRow(trx, table, values as never);
      }
    };
    await replace('usage_total', totals.rows());
    await replace('usage_method', methods.rows());
    await clearDirty(trx, seen);
    if (next !== null) await markDirty(trx, '', [next]);
    return true;
  });
}

/**
 * Rebuilds the totals of a minute.
 * @returns false if it changed meanwhile; the mark stays.
 */
export async function rollMinute(store: Store, minute: number): Promise<boolean> {
  const seen = await readDirtyBucket(store.db, 'minute', minute);
  const sums = await sumMinute(store.db, minute);
  const next = { kind: 'total_hour', bucket: Math.floor(minute / 60) } as const;
  return replaceTotals(store, seen, 'minute', sums, next);
}

/**
 * Rebuilds the totals of an hour or day.
 * @returns false if it changed meanwhile; the mark stays.
 */
async function rollTotals(store: Store, step: keyof typeof coarser, bucket: number): Promise<boolean> {
  const { kind, next } = coarser[step];
  const seen = await readDirtyBucket(store.db, kind, bucket);
  const sums = await sumFiner(store.db, step, bucket);
  const mark = next === null ? null : { kind: next, bucket: Math.floor(bucket / coarser.day.count) };
  return replaceTotals(store, seen, step, sums, mark);
}

/** Bounds memory and the time for which SQLite blocks. */
const KEYS_AT_ONCE = 20;

type DetailStep = 'hour' | 'day';

/** The finer table of each step, its column of buckets, and the number of finer buckets in one. */
const finerOf = {
  hour: { table: 'usage_minute', column: 'minute', count: 60 },
  day: { table: 'usage_hour', column: 'hour', count: 24 },
} as const;

/** Table and column names are known only at run time; both tables have the columns used here. */
const finerRows = (db: Kysely<Schema>, step: DetailStep) =>
  db.selectFrom(finerOf[step].table as 'usage_hour');
const finerColumn = (step: DetailStep): 'hour' => finerOf[step].column as 'hour';
const tableOf = (step: DetailStep): 'usage_hour' => `usage_${step}` as 'usage_hour';

function sumRows(rows: readonly (UsageDetailTable | UsageMinuteTable)[]): UsageDetailTable[] {
  const sums = new UsageSums<Pick<UsageDetailTable, 'key_id' | 'product' | 'method' | 'status'>>();
  const customers = new Map<string, string>();
  for (const row of rows) {
    const { key_id, product, method, status } = row;
    // A key that was unknown to the store when counted has an empty customer.
    if (row.customer_id !== '' || !customers.has(key_id)) customers.set(key_id, row.customer_id);
    sums.add({ key_id, product, method, status }, row, 'minute' in row ? row.minute : row.last_minute);
  }
  return sums.rows().map((row) => ({ customer_id: customers.get(row.key_id) ?? '', ...row }));
}

async function keysInBucket(db: Kysely<Schema>, step: DetailStep, bucket: number): Promise<string[]> {
  const keys = new Set<string>();
  const { count } = finerOf[step];
  for (let finer = bucket * count; finer < (bucket + 1) * count; finer++) {
    const query = finerRows(db, step).select('key_id').distinct().where(finerColumn(step), '=', finer);
    for (const { key_id } of await query.execute()) keys.add(key_id);
    await setImmediate();
  }
  return [...keys].sort();
}

async function replaceRows(
  store: Store,
  step: DetailStep,
  seen: DirtyBucketSnapshot,
  keys: readonly string[],
): Promise<boolean> {
  const { bucket } = seen;
  const { count } = finerOf[step];
  const finer = await finerRows(store.db, step)
    .selectAll()
    .where('key_id', 'in', keys)
    .where(finerColumn(step), '>=', bucket * count)
    .where(finerColumn(step), '<', (bucket + 1) * count)
    .execute();
  const rows = sumRows(finer as (UsageDetailTable | UsageMinuteTable)[]);
  return store.db.transaction().execute(async (trx) => {
    if (!(await lockIfUnchanged(trx, seen))) return false;
    const name = step as 'hour';
    await trx.deleteFrom(tableOf(step)).where(name, '=', bucket).where('key_id', 'in', keys).execute();
    for (let from = 0; from < rows.length; from += PAGE_ROWS) {
      const values = rows.slice(from, from + PAGE_ROWS).map((row) => ({ [name]: bucket, ...row }));
      await insertRow(trx, tableOf(step), values as Schema['usage_hour'][]);
    }
    return true;
  });
}

/**
 * Rebuilds the rows by key of an hour or day, some keys at a time.
 * @returns false if a source changed meanwhile; the mark stays and everything is rebuilt later.
 */
async function rollDetails(store: Store, step: DetailStep, seen: DirtyBucketSnapshot): Promise<boolean> {
  const keys = await keysInBucket(store.db, step, seen.bucket);
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    if (!(await replaceRows(store, step, seen, keys.slice(from, from + KEYS_AT_ONCE)))) return false;
    await setImmediate();
  }
  return store.db.transaction().execute(async (trx) => {
    if (!(await lockIfUnchanged(trx, seen))) return false;
    await clearDirty(trx, seen);
    if (seen.kind === 'hour') {
      await markDirty(trx, '', [{ kind: 'day', bucket: Math.floor(seen.bucket / finerOf.day.count) }]);
    }
    return true;
  });
}

export const rollHour = async (store: Store, hour: number): Promise<boolean> =>
  rollDetails(store, 'hour', await readDirtyBucket(store.db, 'hour', hour));

const rollDay = async (store: Store, day: number): Promise<boolean> =>
  rollDetails(store, 'day', await readDirtyBucket(store.db, 'day', day));

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Per kind and round. */
const BUCKETS_PER_ROUND = 500;

type RollUp = Readonly<{
  kind: DirtyBucketKind;
  ms: number;
  /** Delay after the end of a bucket: writers may be late by a flush, and finer buckets come first. */
  afterMs: number;
  of: UsageStep;
  count: number;
  roll(store: Store, bucket: number): Promise<boolean>;
}>;

const byHour = { ms: HOUR_MS, afterMs: MINUTE_MS, of: 'minute', count: 60 } as const;
const byDay = { ms: DAY_MS, afterMs: 2 * MINUTE_MS, of: 'hour', count: 24 } as const;

const rollUps: readonly RollUp[] = [
  { kind: 'minute', ms: MINUTE_MS, afterMs: 5 * SECOND_MS, of: 'minute', count: 1, roll: rollMinute },
  { kind: 'total_hour', ...byHour, roll: (store, hour) => rollTotals(store, 'hour', hour) },
  { kind: 'total_day', ...byDay, roll: (store, day) => rollTotals(store, 'day', day) },
  { kind: 'hour', ...byHour, roll: rollHour },
  { kind: 'day', ...byDay, roll: rollDay },
];

export async function isSomethingDue({ db }: Store, nowMs: number): Promise<boolean> {
  for (const { kind, ms, afterMs } of rollUps) {
    const end = Math.floor((nowMs - afterMs) / ms);
    if ((await listDirtyBuckets(db, kind, end, 1)).length > 0) return true;
  }
  return false;
}

/**
 * Rebuilds all marked buckets that are complete. Safe to run concurrently and to abort: a bucket is written
 * only if its sources are unchanged.
 * @param shouldContinue - checked before each bucket; false ends the round.
 * @returns number of rebuilt buckets.
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

/** The sources of the bucket were deleted before this late write: it stays as rolled up before. */
async function dropMarks({ db }: Store, kind: DirtyBucketKind, bucket: number): Promise<void> {
  const seen = await readDirtyBucket(db, kind, bucket);
  if (seen.tokens.size > 0) await db.transaction().execute((trx) => clearDirty(trx, seen));
}
