import { deleteRows, selectRows } from '../database/rows.ts';
import type { Store } from '../database/store.ts';

/**
 * Acquires or renews a lease, so that only one gateway does a periodic task. Correctness must not depend on the lease:
 * clocks may differ, and a stalled holder may still be running.
 * @returns whether the holder has the lease.
 */
export async function acquireLease(
  store: Store,
  name: string,
  holder: string,
  nowMs: number,
  durationMs: number,
): Promise<boolean> {
  const until = nowMs + durationMs;
  const result = await store.db
    .insertInto('usage_claim')
    .values({ name, holder, until })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder, until })
        .where((where) =>
          where.or([where('usage_claim.until', '<', nowMs), where('usage_claim.holder', '=', holder)]),
        ),
    )
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function releaseLease(store: Store, name: string, holder: string): Promise<void> {
  await deleteRows(store.db, 'usage_claim', { name, holder });
}

export async function isLeased(store: Store, name: string, nowMs: number): Promise<boolean> {
  const row = await selectRows(store.db, 'usage_claim', { name })
    .where('until', '>=', nowMs)
    .executeTakeFirst();
  return row !== undefined;
}
