import type { Transaction } from 'kysely';
import { customerSubject } from '../billing/customer-plan.ts';
import type { AuditEntry } from '../database/audit-entry.ts';
import { deleteRows, selectRows, updateRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import { revokeRows } from '../keys/change-key.ts';
import type { KeyRegister } from '../keys/key-register.ts';

/**
 * Tables whose rows are deleted with their customer. Usage totals and audit entries stay, for accounting. Logs and
 * submissions are deleted in the background by control/requests/log-retention.ts, because there may be many.
 */
const deletedTables = [
  'member',
  'invitation',
  'admin_token',
  'usage_link',
  'notice_target',
  'notice_delivery',
  'quota_notice',
] as const;

/** Replaces the names of deleted customers and of their keys. */
const DELETED_NAME = 'Deleted';

/** Deletes users who are neither operators nor members of any customer. */
async function deleteUsers(trx: Transaction<Schema>, userIds: readonly string[]): Promise<number> {
  if (userIds.length === 0) return 0;
  const users = await selectRows(trx, 'auth_user', { isOperator: 0 })
    .where('id', 'in', userIds)
    .where('id', 'not in', trx.selectFrom('member').select('user_id'))
    .execute();
  for (const { id } of users) {
    await deleteRows(trx, 'auth_session', { userId: id });
    await deleteRows(trx, 'auth_account', { userId: id });
    await deleteRows(trx, 'auth_two_factor', { userId: id });
    await deleteRows(trx, 'auth_tried_code', { user_id: id });
    await deleteRows(trx, 'auth_verification', { value: id });
    await deleteRows(trx, 'auth_user', { id });
  }
  return users.length;
}

async function deleteKeys(
  trx: Transaction<Schema>,
  by: Pick<KeyRegister, 'actor' | 'origin' | 'now'>,
  customerId: string,
): Promise<number> {
  const rows = await selectRows(trx, 'api_key', { customer_id: customerId })
    .where('state', '!=', 'revoked')
    .orderBy('id')
    .execute();
  await revokeRows(trx, by, rows);
  const families = trx.selectFrom('api_key').select('family_id').where('customer_id', '=', customerId);
  await trx.deleteFrom('semi_wallet').where('owner_id', 'in', families).execute();
  const facts = { name: DELETED_NAME, cidrs: '', origins: '', last_used_from: null };
  await updateRows(trx, 'api_key', { customer_id: customerId }, facts);
  return rows.length;
}

/**
 * Revokes the keys of a customer and deletes its personal data, in a transaction that has locked the change counter.
 * Gateways close the connections of the keys within a second. The customer's row remains, without its name, for the
 * usage totals and audit entries under its id.
 * @returns the details for the audit log.
 */
export async function deleteCustomer(
  trx: Transaction<Schema>,
  by: Pick<KeyRegister, 'actor' | 'origin' | 'now'>,
  id: string,
  version: number,
): Promise<AuditEntry['detail']> {
  const keys = await deleteKeys(trx, by, id);
  const members = await selectRows(trx, 'member', { customer_id: id }).execute();
  for (const table of deletedTables) await deleteRows(trx, table, { customer_id: id });
  await deleteRows(trx, 'plan_undo', { subject: customerSubject(id) });
  const users = await deleteUsers(
    trx,
    members.map((member) => member.user_id),
  );
  await updateRows(trx, 'customer', { id }, { name: DELETED_NAME, state: 'deleted', version });
  return { keys, members: members.length, users };
}
