import type { Store } from '../../database/open.ts';

/** Whether any key of a customer ever had a call that gave a result, as long as days are kept. */
export async function hasSucceeded({ db }: Store, customerId: string): Promise<boolean> {
  const total = await db
    .selectFrom('usage_total')
    .select('customer_id')
    .where('customer_id', '=', customerId)
    .where('status', '=', 'ok')
    .where('requests', '>', 0)
    .limit(1)
    .executeTakeFirst();
  if (total !== undefined) return true;
  // What came since the last roll-up.
  const minute = await db
    .selectFrom('usage_minute')
    .select('minute')
    .where('customer_id', '=', customerId)
    .where('status', '=', 'ok')
    .where('requests', '>', 0)
    .limit(1)
    .executeTakeFirst();
  return minute !== undefined;
}
