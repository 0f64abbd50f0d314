import type { Transaction } from 'kysely';
import { conflict, notFound } from '../api/api-error.ts';
import { deleteRows, findRow, selectRows, updateRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import { makeChange, writeAudit } from '../database/transaction.ts';
import { addInvitation, openInvitations } from './invitations.ts';
import { revokeExcessGrants } from './issued-grants.ts';
import { DEFAULT_CUSTOMER_ID } from './roles.ts';

export type OperatorContext = Readonly<{
  store: Store;
  actor: string;
  invitationMs: number;
  now: () => number;
}>;

export type Operator = Readonly<{ email: string; name: string; twoFactor: boolean; since: string }>;

export async function listOperators(store: Store): Promise<Operator[]> {
  const rows = await selectRows(store.db, 'auth_user', { isOperator: 1 }).orderBy('createdAt').execute();
  return rows.map(({ email, name, twoFactorEnabled, createdAt }) => ({
    email,
    name,
    twoFactor: twoFactorEnabled === 1,
    since: createdAt,
  }));
}

async function invite(
  trx: Transaction<Schema>,
  version: number,
  { actor, invitationMs, now }: OperatorContext,
  email: string,
): Promise<string> {
  const at = now();
  const { token, row } = await addInvitation(trx, {
    customer_id: DEFAULT_CUSTOMER_ID,
    email,
    role: 'owner',
    is_operator: 1,
    created_by: actor,
    created_at: at,
    expires_at: at + invitationMs,
  });
  const detail = { invitation: row.id, email, role: row.role, operator: true };
  const customerId = DEFAULT_CUSTOMER_ID;
  await writeAudit(trx, version, { at, actor, action: 'invitation.create', customerId, detail });
  return token;
}

/**
 * Invites an operator, who also becomes an owner of the built-in customer.
 * @param email - null: anyone with the link may accept.
 * @returns the token for the invitation link.
 */
export function inviteOperator(context: OperatorContext, email: string | null): Promise<string> {
  return makeChange(context.store, (trx, version) =>
    invite(trx, version, context, email?.toLowerCase() ?? ''),
  );
}

/**
 * Invites the first operator. May be called by several processes at once.
 * @returns the invitation token; null if an operator or an open operator invitation already exists.
 */
export function inviteFirstOperator(context: OperatorContext): Promise<string | null> {
  return makeChange(context.store, async (trx, version) => {
    const operator = await findRow(trx, 'auth_user', { isOperator: 1 });
    const query = openInvitations(trx, context.now()).where('is_operator', '=', 1);
    const invited = await query.limit(1).executeTakeFirst();
    if (operator !== undefined || invited !== undefined) return null;
    return invite(trx, version, context, '');
  });
}

/** Removes a user's operator rights and membership in the built-in customer, and revokes grants based on them. */
export function removeOperator(context: OperatorContext, email: string): Promise<void> {
  return makeChange(context.store, async (trx, version) => {
    const operators = await selectRows(trx, 'auth_user', { isOperator: 1 }).execute();
    const user = operators.find((one) => one.email === email.toLowerCase());
    if (user === undefined)
      throw notFound('There is no such operator. List the operators with "solway operator list".');
    if (operators.length === 1)
      throw conflict('LAST_OPERATOR', 'The last operator cannot be removed. Invite another one first.');
    await updateRows(trx, 'auth_user', { id: user.id }, { isOperator: 0 });
    await deleteRows(trx, 'member', { customer_id: DEFAULT_CUSTOMER_ID, user_id: user.id });
    const { actor } = context;
    const at = context.now();
    const detail = { operator: user.email };
    await writeAudit(trx, version, { at, actor, action: 'operator.remove', detail });
    await revokeExcessGrants(trx, user, { at, actor });
  });
}
