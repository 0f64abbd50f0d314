import type { Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';

/**
 * Gives the keys of a customer that have its plan the other one, in the transaction that changes the customer: its own
 * number tells gateways of them. Keys for which another plan was chosen keep that.
 */
export async function moveKeysOfPlan(
  trx: Transaction<Schema>,
  customerId: string,
  from: string,
  to: string,
): Promise<void> {
  await trx
    .updateTable('api_key')
    .set({ plan_id: to })
    .where('customer_id', '=', customerId)
    .where('plan_id', '=', from)
    .execute();
}
