import type { Transaction } from 'kysely';
import { conflict } from '../api/api-error.ts';
import { deleteRows, findRow, selectRows, updateRows, upsertRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { CustomerTable } from '../database/tables/accounts.ts';

/** State to which an undo returns. Keys that had the new plan before the change keep it. */
type PlanBefore = Readonly<{ planId: string; otherKeys: readonly string[] }>;

/** With more keys that already had the new plan, a change cannot be undone. */
const OTHER_KEYS_MAX = 1_000;

/** Subject of a row in plan_undo. */
export const customerSubject = (customerId: string): string => `customer:${customerId}`;

/** Moves the keys of the customer's previous plan to a new plan, and stores how to undo that. */
export async function moveKeys(
  trx: Transaction<Schema>,
  { id, plan_id }: CustomerTable,
  newPlanId: string,
  nowMs: number,
): Promise<void> {
  const subject = customerSubject(id);
  const others = await selectRows(trx, 'api_key', { customer_id: id, plan_id: newPlanId })
    .limit(OTHER_KEYS_MAX + 1)
    .execute();
  const before: PlanBefore = { planId: plan_id, otherKeys: others.map((key) => key.id) };
  if (others.length > OTHER_KEYS_MAX) await deleteRows(trx, 'plan_undo', { subject });
  else await upsertRow(trx, 'plan_undo', { subject }, { at: nowMs, state: JSON.stringify(before) });
  await updateRows(trx, 'api_key', { customer_id: id, plan_id }, { plan_id: newPlanId });
}

/** Returns a customer and its keys to the plan before the last change. @throws ApiError 409 */
export async function undoPlan(
  trx: Transaction<Schema>,
  { id, plan_id }: CustomerTable,
  version: number,
): Promise<string> {
  const subject = customerSubject(id);
  const row = await findRow(trx, 'plan_undo', { subject });
  if (row === undefined) throw conflict('NOTHING_TO_UNDO', 'There is no plan change to undo.');
  const { planId, otherKeys } = JSON.parse(row.state) as PlanBefore;
  if ((await findRow(trx, 'plan', { id: planId })) === undefined)
    throw conflict('PLAN_DELETED', `The plan ${planId} was deleted. Choose another plan.`);
  await updateRows(trx, 'customer', { id }, { plan_id: planId, version });
  await trx
    .updateTable('api_key')
    .set({ plan_id: planId })
    .where('customer_id', '=', id)
    .where('plan_id', '=', plan_id)
    .$if(otherKeys.length > 0, (query) => query.where('id', 'not in', otherKeys))
    .execute();
  await deleteRows(trx, 'plan_undo', { subject });
  return planId;
}
