import type { Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { type AuditContext, type Grant, revokeIssuedGrants } from './issued-grants.ts';
import { roleAllows } from './roles.ts';

/** What somebody may still hand out who is no operator. */
async function grantPredicateFor(
  trx: Transaction<Schema>,
  userId: string,
): Promise<(grant: Grant) => boolean> {
  const rows = await trx
    .selectFrom('member')
    .select(['customer_id', 'role'])
    .where('user_id', '=', userId)
    .execute();
  const roles = new Map(rows.map(({ customer_id, role }) => [customer_id, role]));
  return ({ customer, isOperator, role }) => {
    const own = customer === null || isOperator ? undefined : roles.get(customer);
    return own !== undefined && roleAllows(own, role);
  };
}

/**
 * Ends the tokens and takes back the open invitations that somebody made and could not make any more, with a line in the
 * audit log for each: nobody keeps by a token what was taken from them. What their tokens made counts as theirs. Call it
 * in the transaction that took rights away, behind the change.
 */
export async function revokeExcessGrants(
  trx: Transaction<Schema>,
  user: Readonly<{ id: string; email: string }>,
  by: AuditContext,
): Promise<void> {
  const query = trx.selectFrom('auth_user').select('isOperator').where('id', '=', user.id);
  if ((await query.executeTakeFirst())?.isOperator === 1) return;
  await revokeIssuedGrants(trx, `user:${user.email}`, by, await grantPredicateFor(trx, user.id));
}
