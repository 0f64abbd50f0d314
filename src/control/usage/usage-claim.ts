import type { Store } from '../database/open.ts';

/**
 * Claims, or goes on holding, what only one of several gateways needs to do. It spares work and keeps nothing right:
 * clocks may differ, and whoever stood still may believe that it holds a claim that is another's by now.
 * @param forMs - how long others keep away unless it is claimed again.
 * @returns whether it is the holder's.
 */
export async function claim(
  store: Store,
  name: string,
  holder: string,
  nowMs: number,
  forMs: number,
): Promise<boolean> {
  const until = nowMs + forMs;
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
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Gives a claim up, for the next to have it at once. */
export async function releaseClaim(store: Store, name: string, holder: string): Promise<void> {
  await store.db.deleteFrom('usage_claim').where('name', '=', name).where('holder', '=', holder).execute();
}

/** Whether anybody holds it. */
export async function isClaimed(store: Store, name: string, nowMs: number): Promise<boolean> {
  const row = await store.db
    .selectFrom('usage_claim')
    .select('name')
    .where('name', '=', name)
    .where('until', '>=', nowMs)
    .executeTakeFirst();
  return row !== undefined;
}
