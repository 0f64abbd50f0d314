import type { Kysely, Transaction } from 'kysely';
import { revokeExcessGrants } from '../../accounts/issued-grants.ts';
import type { MemberRole } from '../../accounts/roles.ts';
import { deleteRows, fieldsOf, updateRows } from '../../database/rows.ts';
import type { Schema } from '../../database/schema.ts';
import { conflict, notFound } from '../api-error.ts';
import { type ApiContext, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { withAudit } from './audit.ts';
import { invitationJson, openInvitationsOf } from './invitations.ts';
import { checkMayGrant } from './tokens.ts';

const membersOf = (db: Kysely<Schema>, customerId: string) =>
  db
    .selectFrom('member')
    .innerJoin('auth_user', 'auth_user.id', 'member.user_id')
    .select(['user_id', 'role', 'member.created_at', 'name', 'email', 'twoFactorEnabled'])
    .where('customer_id', '=', customerId)
    .orderBy('member.created_at')
    .orderBy('user_id');

type MemberRow = Awaited<ReturnType<ReturnType<typeof membersOf>['execute']>>[number];

const memberJson = (row: MemberRow) => ({
  ...fieldsOf(row, 'user_id', 'name', 'email', 'role'),
  since: row.created_at,
  twoFactor: row.twoFactorEnabled === 1,
});

async function requireMember(trx: Transaction<Schema>, customerId: string, userId: string) {
  const row = await membersOf(trx, customerId).where('user_id', '=', userId).executeTakeFirst();
  if (row !== undefined) return row;
  throw notFound('There is no such member. See the list of members for the ids.');
}

async function checkNotLastOwner(trx: Transaction<Schema>, customerId: string): Promise<void> {
  const owners = await membersOf(trx, customerId).where('role', '=', 'owner').limit(2).execute();
  if (owners.length > 1) return;
  throw conflict('LAST_OWNER', 'A customer needs an owner. Make another member an owner first.');
}

function changeRole(
  services: ApiServices,
  { customer, user }: { customer: string; user: string },
  role: MemberRole,
  context: ApiContext,
) {
  return withAudit(services, context, async (trx) => {
    const row = await requireMember(trx, customer, user);
    checkMayGrant(context, role);
    checkMayGrant(context, row.role);
    if (row.role === role) return [memberJson(row), null];
    if (row.role === 'owner') await checkNotLastOwner(trx, customer);
    await updateRows(trx, 'member', { customer_id: customer, user_id: user }, { role });
    await revokeExcessGrants(trx, { id: user, email: row.email }, { ...context, at: services.now() });
    const detail = { member: row.email, role, role_before: row.role };
    return [memberJson({ ...row, role }), { action: 'member.role', customerId: customer, detail }];
  });
}

const isSelf = ({ caller }: ApiContext, userId: string): boolean =>
  caller.kind === 'user' && caller.userId === userId;

function removeMember(
  services: ApiServices,
  { customer, user }: { customer: string; user: string },
  context: ApiContext,
) {
  return withAudit(services, context, async (trx) => {
    const row = await requireMember(trx, customer, user);
    if (!isSelf(context, user)) checkMayGrant(context, row.role);
    if (row.role === 'owner') await checkNotLastOwner(trx, customer);
    await deleteRows(trx, 'member', { customer_id: customer, user_id: user });
    await revokeExcessGrants(trx, { id: user, email: row.email }, { ...context, at: services.now() });
    const detail = { member: row.email, role: row.role };
    return [{ done: true as const }, { action: 'member.remove', customerId: customer, detail }];
  });
}

export const memberHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /customers/{customer}/members': async ({ path }) => {
      const { store, now } = services;
      const [members, invitations] = await Promise.all([
        membersOf(store.db, path.customer).execute(),
        openInvitationsOf(store.db, path.customer, now()).execute(),
      ]);
      return { members: members.map(memberJson), invitations: invitations.map(invitationJson) };
    },
    'PATCH /customers/{customer}/members/{user}': ({ path, body }, context) =>
      changeRole(services, path, body.role, context),
    'DELETE /customers/{customer}/members/{user}': ({ path }, context) =>
      removeMember(services, path, context),
  });
