import { type Kysely, sql, type Transaction } from 'kysely';
import { deleteRows, insertRow, pagesOf, selectRows } from '../database/rows.ts';
import type { Schema, UsageMinuteTable } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import {
  type MarkKind,
  totalTables,
  type UsageCounters,
  type UsageDetailTable,
  type UsageFleetTable,
  type UsageLabels,
  type UsageMethodTable,
  type UsageStep,
  type UsageTotalTable,
} from '../database/tables/usage.ts';
import { stepMs } from './read-usage.ts';
import { RollUpFailures } from './roll-up-failures.ts';
import {
  clearMarks,
  listStaleBuckets,
  lockIfUnchanged,
  type MarkSnapshot,
  markStale,
  readMarks,
  retentionStarts,
  type StaleBucket,
  stepOfKind,
} from './usage-rows.ts';
import { UsageSums } from './usage-sums.ts';

/** Rows per statement: few enough that other statements wait for only a few milliseconds. */
const PAGE_ROWS = 500;

type BucketSums = Readonly<{
  totals: UsageSums<Omit<UsageTotalTable, keyof UsageCounters>>;
  methods: UsageSums<Omit<UsageMethodTable, keyof UsageCounters>>;
  fleet: UsageSums<Omit<UsageFleetTable, keyof UsageCounters>>;
}>;

const emptySums = (): BucketSums => ({
  totals: new UsageSums(),
  methods: new UsageSums(),
  fleet: new UsageSums(),
});

/** Key columns of a row within a minute, in the order of the primary key. */
const minuteKeyColumns = ['epoch', 'key_id', 'product', 'method', 'status', 'network', 'code'] as const;

/** Yields the rows of one minute in pages. May miss concurrent writes, which lockIfUnchanged then detects. */
const minutePages = (db: Kysely<Schema>, minute: number) =>
  pagesOf<UsageMinuteTable>(PAGE_ROWS, async (last) => {
    let query = selectRows(db, 'usage_minute', { minute }).limit(PAGE_ROWS);
    for (const name of minuteKeyColumns) query = query.orderBy(name);
    if (last !== null) {
      const names = sql.join(minuteKeyColumns.map((name) => sql.ref(name)));
      query = query.where(
        sql<boolean>`(${names}) > (${sql.join(minuteKeyColumns.map((name) => last[name]))})`,
      );
    }
    return query.execute();
  });

async function sumMinute(db: Kysely<Schema>, minute: number): Promise<BucketSums> {
  const sums = emptySums();
  for await (const rows of minutePages(db, minute)) {
    for (const row of rows) {
      const { customer_id, plan_id, epoch, product, method, status, network, code } = row;
      const bucketKey = { step: 'minute', bucket: minute, product, status } as const;
      sums.totals.add({ ...bucketKey, customer_id, plan_id }, row);
      sums.methods.add({ ...bucketKey, customer_id, method, network, code }, row);
      sums.fleet.add({ ...bucketKey, epoch, method, network, code }, row);
    }
  }
  return sums;
}

type CoarseStep = 'hour' | 'day';

/** The finer step from which each step is summed, and how many of its buckets form one coarser bucket. */
export const rollUpSources = {
  minute: { finer: 'minute', count: 1 },
  hour: { finer: 'minute', count: 60 },
  day: { finer: 'hour', count: 24 },
} as const;

export const dayOf = (hour: number): number => Math.floor(hour / rollUpSources.day.count);

async function sumFiner(db: Kysely<Schema>, step: CoarseStep, bucket: number): Promise<BucketSums> {
  const { finer: source, count } = rollUpSources[step];
  const sums = emptySums();
  for (let finer = bucket * count; finer < (bucket + 1) * count; finer++) {
    const where = { step: source, bucket: finer };
    const totals = await selectRows(db, 'usage_total', where).execute();
    for (const { customer_id, plan_id, product, status, ...counters } of totals) {
      sums.totals.add({ step, bucket, customer_id, plan_id, product, status }, counters);
    }
    const methods = await selectRows(db, 'usage_method', where).execute();
    for (const { customer_id, product, method, status, network, code, ...counters } of methods) {
      const dimensions = { step, bucket, customer_id, product, method, status, network, code };
      sums.methods.add(dimensions, counters);
    }
    const fleet = await selectRows(db, 'usage_fleet', where).execute();
    for (const { epoch, product, method, status, network, code, ...counters } of fleet) {
      const dimensions = { step, bucket, epoch, product, method, status, network, code };
      sums.fleet.add(dimensions, counters);
    }
  }
  return sums;
}

async function insertPages<Name extends 'usage_total' | 'usage_method' | 'usage_fleet' | 'usage_hour'>(
  trx: Transaction<Schema>,
  table: Name,
  rows: readonly Schema[Name][],
): Promise<void> {
  for (let from = 0; from < rows.length; from += PAGE_ROWS)
    await insertRow(trx, table, rows.slice(from, from + PAGE_ROWS) as never);
}

/** Replaces the rows of a bucket unless its sources have changed. */
function replaceTotals(
  store: Store,
  seen: MarkSnapshot,
  step: UsageStep,
  { totals, methods, fleet }: BucketSums,
  next: StaleBucket | null,
): Promise<boolean> {
  const { bucket } = seen;
  return finishRollUp(store, seen, next, async (trx) => {
    const sums = { usage_total: totals.rows(), usage_method: methods.rows(), usage_fleet: fleet.rows() };
    for (const table of totalTables) {
      await deleteRows(trx, table, { step, bucket });
      const values = sums[table].map(({ last_minute: _, ...row }) => row);
      await insertPages(trx, table, values as never[]);
    }
  });
}

/** Rebuilds the totals of a minute. @returns false if the minute has no mark or its rows changed in the meantime. */
export async function rollMinute(store: Store, minute: number): Promise<boolean> {
  const seen = await readMarks(store.db, 'minute', minute);
  const sums = await sumMinute(store.db, minute);
  const next = { kind: 'total_hour', bucket: Math.floor(minute / 60) } as const;
  return replaceTotals(store, seen, 'minute', sums, next);
}

async function rollTotals(store: Store, step: CoarseStep, bucket: number): Promise<boolean> {
  const seen = await readMarks(store.db, `total_${step}`, bucket);
  const sums = await sumFiner(store.db, step, bucket);
  const next = step === 'day' ? null : ({ kind: 'total_day', bucket: dayOf(bucket) } as const);
  return replaceTotals(store, seen, step, sums, next);
}

/** Limits memory use and the time for which other statements wait. */
const KEYS_AT_ONCE = 20;

/** Casts, because the names are known only at run time. All usage tables have the columns used here. */
const finerRows = (db: Kysely<Schema>, step: CoarseStep) =>
  db.selectFrom(`usage_${rollUpSources[step].finer}` as 'usage_hour');
const finerColumn = (step: CoarseStep): 'hour' => rollUpSources[step].finer as 'hour';
const tableOf = (step: CoarseStep): 'usage_hour' => `usage_${step}` as 'usage_hour';

function sumRows(rows: readonly (UsageDetailTable | UsageMinuteTable)[]): UsageDetailTable[] {
  const sums = new UsageSums<Pick<UsageDetailTable, 'key_id' | 'product' | 'method' | keyof UsageLabels>>();
  const customers = new Map<string, string>();
  for (const row of rows) {
    const { key_id, product, method, status, network, code } = row;
    // Usage of a key that the store did not know yet has an empty customer id.
    if (row.customer_id !== '' || !customers.has(key_id)) customers.set(key_id, row.customer_id);
    sums.add(
      { key_id, product, method, status, network, code },
      row,
      'minute' in row ? row.minute : row.last_minute,
    );
  }
  return sums.rows().map((row) => ({ customer_id: customers.get(row.key_id) ?? '', ...row }));
}

async function keysInBucket(db: Kysely<Schema>, step: CoarseStep, bucket: number): Promise<string[]> {
  const keys = new Set<string>();
  const { count } = rollUpSources[step];
  for (let finer = bucket * count; finer < (bucket + 1) * count; finer++) {
    const query = finerRows(db, step).select('key_id').distinct().where(finerColumn(step), '=', finer);
    for (const { key_id } of await query.execute()) keys.add(key_id);
  }
  return [...keys].sort();
}

async function replaceDetails(
  store: Store,
  step: CoarseStep,
  seen: MarkSnapshot,
  keys: readonly string[],
): Promise<boolean> {
  const { bucket } = seen;
  const { count } = rollUpSources[step];
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
    const values = rows.map((row) => ({ [name]: bucket, ...row }) as Schema['usage_hour']);
    await insertPages(trx, tableOf(step), values);
    return true;
  });
}

/** Rebuilds the rows of each key in a bucket, KEYS_AT_ONCE keys at a time. @returns false if a source has changed. */
async function rollDetails(store: Store, step: CoarseStep, bucket: number): Promise<boolean> {
  const seen = await readMarks(store.db, step, bucket);
  const keys = await keysInBucket(store.db, step, bucket);
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    if (!(await replaceDetails(store, step, seen, keys.slice(from, from + KEYS_AT_ONCE)))) return false;
  }
  return finishRollUp(store, seen, step === 'hour' ? { kind: 'day', bucket: dayOf(bucket) } : null);
}

/**
 * Clears the marks of a bucket unless its sources have changed. @param next - the coarser bucket that depends on it.
 * @param write - runs in the same transaction.
 */
export function finishRollUp(
  store: Store,
  seen: MarkSnapshot,
  next: StaleBucket | null,
  write?: (trx: Transaction<Schema>) => Promise<void>,
): Promise<boolean> {
  return store.db.transaction().execute(async (trx) => {
    if (!(await lockIfUnchanged(trx, seen))) return false;
    await write?.(trx);
    await clearMarks(trx, seen);
    if (next !== null) await markStale(trx, '', [next]);
    return true;
  });
}

export const rollHourDetails = (store: Store, hour: number): Promise<boolean> =>
  rollDetails(store, 'hour', hour);

/** Maximum buckets of each kind in one call of `rollUp`. */
const BUCKETS_MAX = 500;

/** Delay from the end of a bucket to its roll-up: writers flush with a delay, and finer buckets are rolled up first. */
const delayMs: Readonly<Record<UsageStep, number>> = { minute: 5_000, hour: 60_000, day: 120_000 };

export type RollUp = Readonly<{
  kind: MarkKind;
  roll(store: Store, bucket: number): Promise<boolean>;
  /** Whether a bucket may be rolled up again from a part of its sources. */
  acceptsParts?: true;
}>;

/** Roll-ups in the database, finer steps first. */
export const databaseRollUps: readonly RollUp[] = [
  { kind: 'minute', roll: rollMinute },
  { kind: 'total_hour', roll: (store, hour) => rollTotals(store, 'hour', hour) },
  { kind: 'total_day', roll: (store, day) => rollTotals(store, 'day', day) },
  { kind: 'hour', roll: rollHourDetails },
  { kind: 'day', roll: (store, day) => rollDetails(store, 'day', day) },
];

function dueBuckets(db: Kysely<Schema>, kind: MarkKind, nowMs: number, limit: number) {
  const step = stepOfKind[kind];
  return listStaleBuckets(db, kind, Math.floor((nowMs - delayMs[step]) / stepMs[step]), limit);
}

export async function hasDueBuckets(
  { db }: Store,
  nowMs: number,
  rollUps: readonly RollUp[],
): Promise<boolean> {
  for (const { kind } of rollUps) {
    if ((await dueBuckets(db, kind, nowMs, 1)).length > 0) return true;
  }
  return false;
}

/**
 * Rebuilds marked buckets that are complete. Safe to run concurrently and to abort.
 * @param shouldContinue - checked before each bucket.
 * @throws the first error, after all buckets were tried.
 */
export async function rollUp(
  store: Store,
  nowMs: number,
  shouldContinue: () => Promise<boolean>,
  rollUps: readonly RollUp[] = databaseRollUps,
  failures = new RollUpFailures(),
): Promise<void> {
  for (const { kind, roll, acceptsParts } of rollUps) {
    const { finer, count } = rollUpSources[stepOfKind[kind]];
    const starts = await retentionStarts(store.db);
    const listDue = (limit: number) => dueBuckets(store.db, kind, nowMs, limit);
    for (const bucket of await failures.select(kind, BUCKETS_MAX, listDue)) {
      if (!(await shouldContinue())) return;
      if (bucket * count < starts[finer] && !acceptsParts) await dropMarks(store, kind, bucket);
      else await failures.watch(kind, bucket, () => roll(store, bucket));
    }
  }
  failures.throwFirst();
}

/** Drops marks left by late writes. The sources of the bucket are already pruned, so it cannot be rebuilt. */
async function dropMarks({ db }: Store, kind: MarkKind, bucket: number): Promise<void> {
  const seen = await readMarks(db, kind, bucket);
  if (seen.tokens.size > 0) await db.transaction().execute((trx) => clearMarks(trx, seen));
}
