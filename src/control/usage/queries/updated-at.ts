import type { Store } from '../../database/open.ts';

/** When any gateway wrote usage last, in Unix milliseconds; `nowMs` when none ever did. */
export async function usageUpdatedAt({ db }: Store, nowMs: number): Promise<number> {
  const row = await db
    .selectFrom('usage_epoch')
    .select((select) => select.fn.max<number | null>('written_at').as('at'))
    .executeTakeFirst();
  return row?.at ?? nowMs;
}
