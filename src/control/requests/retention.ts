import type { Store } from '../database/open.ts';
import { firstIdAt } from './entry-id.ts';

/** How much of the log is kept. */
export type RetentionLimits = Readonly<{
  keptHours: number;
  /** Rows of one customer. */
  customerRowsMax: number;
  /** Rows in all. */
  rowsMax: number;
}>;

/** What holds when nothing else is said. */
export const retentionLimits: RetentionLimits = {
  keptHours: 72,
  customerRowsMax: 50_000,
  rowsMax: 500_000,
};

const HOUR_MS = 3_600_000;
/** Rows deleted at once; small enough that an embedded store blocks for a few milliseconds. */
const STEP_ROWS = 500;

const tables = ['request_log', 'submission'] as const;
type Kept = (typeof tables)[number];

/** The newest id that is one too many; null when there are not so many. */
async function lastBeyond(
  { db }: Store,
  table: Kept,
  customerId: string | null,
  max: number,
): Promise<string | null> {
  let query = db.selectFrom(table).select('id').orderBy('id', 'desc').offset(max).limit(1);
  if (customerId !== null) query = query.where('customer_id', '=', customerId);
  return (await query.executeTakeFirst())?.id ?? null;
}

async function deleteUpTo(store: Store, table: Kept, customerId: string | null, last: string): Promise<void> {
  for (;;) {
    let some = store.db.selectFrom(table).select('id').where('id', '<=', last).orderBy('id').limit(STEP_ROWS);
    if (customerId !== null) some = some.where('customer_id', '=', customerId);
    const ids = (await some.execute()).map(({ id }) => id);
    if (ids.length > 0) await store.db.deleteFrom(table).where('id', 'in', ids).execute();
    if (ids.length < STEP_ROWS) return;
  }
}

/**
 * Deletes what is too old, then what is too much, the oldest first.
 * @param customers - those whose rows may have become too many.
 * @param nowMs - Unix milliseconds.
 */
export async function pruneEntries(
  store: Store,
  customers: readonly string[],
  { keptHours, customerRowsMax, rowsMax }: RetentionLimits,
  nowMs: number,
): Promise<void> {
  for (const table of tables) {
    await deleteUpTo(store, table, null, firstIdAt(nowMs - keptHours * HOUR_MS));
    for (const [customer, max] of [
      ...customers.map((id) => [id, customerRowsMax] as const),
      [null, rowsMax],
    ] as const) {
      const last = await lastBeyond(store, table, customer, max);
      if (last !== null) await deleteUpTo(store, table, customer, last);
    }
  }
}
