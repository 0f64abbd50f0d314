import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Store } from '../database/open.ts';
import type { Schema, UsageMinuteTable } from '../database/schema.ts';
import type {
  DirtyBucketKind,
  UsageMethodTable,
  UsageStep,
  UsageTotalTable,
} from '../database/tables/usage.ts';
import {
  clearDirty,
  type DirtyBucket,
  type DirtyBucketSnapshot,
  lockIfUnchanged,
  markDirty,
  readDirtyBucket,
} from './rollup-dirty-buckets.ts';
import { UsageSums } from './usage-sums.ts';

/** Rows of one read or insert: few enough that an embedded store blocks for a few milliseconds. */
const PAGE_ROWS = 500;

type Totals = Readonly<{
  totals: UsageSums<Omit<UsageTotalTable, CounterColumn>>;
  methods: UsageSums<Omit<UsageMethodTable, CounterColumn>>;
}>;
type CounterColumn = 'requests' | 'bytes_in' | 'bytes_out' | 'credits' | 'messages' | 'latency';

const noTotals = (): Totals => ({ totals: new UsageSums(), methods: new UsageSums() });

/** Names of the rows of a minute, in the order of the primary key behind the minute itself. */
type RowCursor = readonly [epoch: string, key: string, product: string, method: string, status: string];

/** The rows of one minute, some at a time. What is written meanwhile may be missing: its mark says so. */
async function* pagesOf(db: Kysely<Schema>, minute: number): AsyncGenerator<UsageMinuteTable[]> {
  let last: RowCursor | null = null;
  for (;;) {
    let query = db.selectFrom('usage_minute').selectAll().where('minute', '=', minute);
    if (last !== null) {
      const cursor = sql.join([...last]);
      query = query.where(sql<boolean>`(epoch, key_id, product, method, status) > (${cursor})`);
    }
    const rows: UsageMinuteTable[] = await query
      .orderBy('epoch')
      .orderBy('key_id')
      .orderBy('product')
      .orderBy('method')
      .orderBy('status')
      .limit(PAGE_ROWS)
      .execute();
    if (rows.length > 0) yield rows;
    const end = rows.at(-1);
    if (rows.length < PAGE_ROWS || end === undefined) return;
    last = [end.epoch, end.key_id, end.product, end.method, end.status];
    await setImmediate();
  }
}

async function sumMinute(db: Kysely<Schema>, minute: number): Promise<Totals> {
  const sums = noTotals();
  for await (const rows of pagesOf(db, minute)) {
    for (const row of rows) {
      const { customer_id, plan_id, product, method, status } = row;
      const bucketKey = { step: 'minute', bucket: minute, customer_id, product, status } as const;
      sums.totals.add({ ...bucketKey, plan_id }, row, 0);
      sums.methods.add({ ...bucketKey, method }, row, 0);
    }
  }
  return sums;
}

/** Each step with the one that it is made of, how many of those it has, and what is made of it. */
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
    const totals = await rowsOf(db, 'usage_total', where);
    for (const { customer_id, plan_id, product, status, ...counters } of totals) {
      sums.totals.add({ step, bucket, customer_id, plan_id, product, status }, counters, 0);
    }
    const methods = await rowsOf(db, 'usage_method', where);
    for (const { customer_id, product, method, status, ...counters } of methods) {
      sums.methods.add({ step, bucket, customer_id, product, method, status }, counters, 0);
    }
    await setImmediate();
  }
  return sums;
}

type TotalTables = Pick<Schema, 'usage_total' | 'usage_method'>;

function rowsOf<Table extends keyof TotalTables>(
  db: Kysely<Schema>,
  table: Table,
  { step, bucket }: Readonly<{ step: UsageStep; bucket: number }>,
): Promise<TotalTables[Table][]> {
  return db
    .selectFrom(table as 'usage_total')
    .selectAll()
    .where('step', '=', step)
    .where('bucket', '=', bucket)
    .execute() as Promise<unknown[]> as Promise<TotalTables[Table][]>;
}

/** Puts the rows in place of those that the bucket had, unless what they follow from has changed meanwhile. */
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
    const replace = async (table: keyof TotalTables, rows: readonly { last_minute: number }[]) => {
      await trx.deleteFrom(table).where('step', '=', step).where('bucket', '=', bucket).execute();
      for (let from = 0; from < rows.length; from += PAGE_ROWS) {
        const values = rows.slice(from, from + PAGE_ROWS).map(({ last_minute: _, ...row }) => row);
        await trx
          .insertInto(table)
          .values(values as never)
          .execute();
      }
    };
    await replace('usage_total', totals.rows());
    await replace('usage_method', methods.rows());
    await clearDirty(trx, seen);
    if (next !== null) await markDirty(trx, '', [next]);
    return true;
  });
}

/** Makes the totals of a minute anew. @returns false when they changed meanwhile: the mark is still there. */
export async function rollMinute(store: Store, minute: number): Promise<boolean> {
  const seen = await readDirtyBucket(store.db, 'minute', minute);
  const sums = await sumMinute(store.db, minute);
  const next = { kind: 'total_hour', bucket: Math.floor(minute / 60) } as const;
  return replaceTotals(store, seen, 'minute', sums, next);
}

/** Makes the totals of an hour or day anew from those of its minutes or hours. @returns as `rollMinute`. */
export async function rollTotals(store: Store, step: keyof typeof coarser, bucket: number): Promise<boolean> {
  const { kind, next } = coarser[step];
  const seen = await readDirtyBucket(store.db, kind, bucket);
  const sums = await sumFiner(store.db, step, bucket);
  const mark = next === null ? null : { kind: next, bucket: Math.floor(bucket / coarser.day.count) };
  return replaceTotals(store, seen, step, sums, mark);
}
