import type { Store } from '../database/open.ts';

/** Deleted at once; small enough that an embedded store blocks for a few milliseconds. */
const STEP_MINUTES = 60;

async function oldestMinute(store: Store): Promise<number | null> {
  const row = await store.db
    .selectFrom('usage_minute')
    .select((select) => select.fn.min<number | null>('minute').as('minute'))
    .executeTakeFirst();
  return row?.minute ?? null;
}

/**
 * Deletes the usage of the minutes before `minute`, oldest first, an hour of it per transaction.
 * @param minute - Unix minutes.
 */
export async function pruneUsage(store: Store, minute: number): Promise<void> {
  for (;;) {
    const oldest = await oldestMinute(store);
    if (oldest === null || oldest >= minute) return;
    const end = Math.min(oldest + STEP_MINUTES, minute);
    await store.db
      .transaction()
      .execute((trx) => trx.deleteFrom('usage_minute').where('minute', '<', end).execute());
  }
}
