import { setImmediate } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import type { Store } from '../database/open.ts';
import type { Schema } from '../database/schema.ts';
import type { UsageDetailTable } from '../database/tables/usage.ts';
import {
  clearDirty,
  type DirtyBucketSnapshot,
  lockIfUnchanged,
  markDirty,
  readDirtyBucket,
} from './rollup-dirty-buckets.ts';
import { UsageSums } from './usage-sums.ts';

/** Keys that are rolled up at a time: what they have in memory, and how long an embedded store blocks, is bounded by it. */
const KEYS_AT_ONCE = 20;
/** Rows of one insert. */
const INSERT_ROWS = 500;

/** How the rows by key of an hour or a day are made. */
type DetailStep = Readonly<{
  /** Finer buckets in one. */
  count: number;
  keysAt(db: Kysely<Schema>, finer: number): Promise<string[]>;
  /** What the keys have in finer buckets from `from` to before `to`. */
  rowsOf(
    db: Kysely<Schema>,
    keys: readonly string[],
    from: number,
    to: number,
  ): Promise<readonly UsageDetailTable[]>;
  remove(trx: Transaction<Schema>, bucket: number, keys: readonly string[]): Promise<unknown>;
  insert(trx: Transaction<Schema>, bucket: number, rows: readonly UsageDetailTable[]): Promise<unknown>;
}>;

const hours: DetailStep = {
  count: 60,
  async keysAt(db, minute) {
    const query = db.selectFrom('usage_minute').select('key_id').distinct().where('minute', '=', minute);
    return (await query.execute()).map(({ key_id }) => key_id);
  },
  async rowsOf(db, keys, from, to) {
    const rows = await db
      .selectFrom('usage_minute')
      .selectAll()
      .where('key_id', 'in', keys)
      .where('minute', '>=', from)
      .where('minute', '<', to)
      .execute();
    return rows.map((row) => ({ ...row, last_minute: row.minute }));
  },
  remove: (trx, hour, keys) =>
    trx.deleteFrom('usage_hour').where('hour', '=', hour).where('key_id', 'in', keys).execute(),
  insert: (trx, hour, rows) =>
    trx
      .insertInto('usage_hour')
      .values(rows.map((row) => ({ hour, ...row })))
      .execute(),
};

const days: DetailStep = {
  count: 24,
  async keysAt(db, hour) {
    const query = db.selectFrom('usage_hour').select('key_id').distinct().where('hour', '=', hour);
    return (await query.execute()).map(({ key_id }) => key_id);
  },
  rowsOf: (db, keys, from, to) =>
    db
      .selectFrom('usage_hour')
      .selectAll()
      .where('key_id', 'in', keys)
      .where('hour', '>=', from)
      .where('hour', '<', to)
      .execute(),
  remove: (trx, day, keys) =>
    trx.deleteFrom('usage_day').where('day', '=', day).where('key_id', 'in', keys).execute(),
  insert: (trx, day, rows) =>
    trx
      .insertInto('usage_day')
      .values(rows.map((row) => ({ day, ...row })))
      .execute(),
};

/** The rows of some keys, added up over the finer buckets. */
function sumRows(rows: readonly UsageDetailTable[]): UsageDetailTable[] {
  const sums = new UsageSums<Pick<UsageDetailTable, 'key_id' | 'product' | 'method' | 'status'>>();
  const customers = new Map<string, string>();
  for (const row of rows) {
    const { key_id, product, method, status } = row;
    // A key that the store did not know yet has rows of nobody.
    if (row.customer_id !== '' || !customers.has(key_id)) customers.set(key_id, row.customer_id);
    sums.add({ key_id, product, method, status }, row, row.last_minute);
  }
  return sums.rows().map((row) => ({ customer_id: customers.get(row.key_id) ?? '', ...row }));
}

async function keysInBucket(db: Kysely<Schema>, step: DetailStep, bucket: number): Promise<string[]> {
  const keys = new Set<string>();
  for (let finer = bucket * step.count; finer < (bucket + 1) * step.count; finer++) {
    for (const key of await step.keysAt(db, finer)) keys.add(key);
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
  const rows = sumRows(await step.rowsOf(store.db, keys, bucket * step.count, (bucket + 1) * step.count));
  return store.db.transaction().execute(async (trx) => {
    if (!(await lockIfUnchanged(trx, seen))) return false;
    await step.remove(trx, bucket, keys);
    for (let from = 0; from < rows.length; from += INSERT_ROWS) {
      await step.insert(trx, bucket, rows.slice(from, from + INSERT_ROWS));
    }
    return true;
  });
}

/**
 * Makes the rows by key of an hour or day anew, some keys at a time, each with a look whether what they follow from has
 * changed. @returns false when it has: the mark is still there, and all of it is to be made again.
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
      await markDirty(trx, '', [{ kind: 'day', bucket: Math.floor(seen.bucket / days.count) }]);
    }
    return true;
  });
}

/** Makes an hour by key anew from its minutes. @returns false when they changed meanwhile. */
export const rollHour = async (store: Store, hour: number): Promise<boolean> =>
  rollDetails(store, hours, await readDirtyBucket(store.db, 'hour', hour));

/** Makes a day by key anew from its hours. @returns false when they changed meanwhile. */
export const rollDay = async (store: Store, day: number): Promise<boolean> =>
  rollDetails(store, days, await readDirtyBucket(store.db, 'day', day));
