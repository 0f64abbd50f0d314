import type { Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import type { LeakedKey } from '../keys/leaked-keys.ts';
import { enqueue } from './deliveries.ts';

/** Lets the customer of a key be told that it was found where others can read it. */
export async function enqueueLeak(
  trx: Transaction<Schema>,
  { key, url, revoked }: LeakedKey,
  nowMs: number,
): Promise<void> {
  const customer = await trx
    .selectFrom('customer')
    .select(['id', 'name'])
    .where('id', '=', key.customerId)
    .executeTakeFirst();
  if (customer === undefined) return;
  const leaked = { id: key.id, name: key.name, revoked, url };
  await enqueue(trx, { type: 'key.leaked', customer, at: new Date(nowMs).toISOString(), key: leaked }, nowMs);
}
