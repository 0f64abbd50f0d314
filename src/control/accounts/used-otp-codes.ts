import type { Store } from '../database/open.ts';

/** Longer than a code of the second factor holds, with the codes before and after it; milliseconds. */
const CODE_LIFE_MS = 5 * 60_000;

/** Takes a code for its user. @returns false when it was tried before, by whomever. */
export async function markCodeUsed(
  store: Store,
  userId: string,
  digest: string,
  now: number,
): Promise<boolean> {
  await store.db
    .deleteFrom('auth_tried_code')
    .where('user_id', '=', userId)
    .where('tried_at', '<', now - CODE_LIFE_MS)
    .execute();
  const taken = await store.db
    .insertInto('auth_tried_code')
    .values({ user_id: userId, code_digest: digest, tried_at: now })
    .onConflict((conflict) => conflict.columns(['user_id', 'code_digest']).doNothing())
    .executeTakeFirst();
  return (taken.numInsertedOrUpdatedRows ?? 0n) > 0n;
}
