import type { Kysely, Transaction } from 'kysely';
import {
  addInvitation,
  findInvitationByToken,
  noSuchInvitation,
  openInvitations,
} from '../../accounts/invitations.ts';
import { DEFAULT_CUSTOMER_ID, roleAllows } from '../../accounts/roles.ts';
import { resolvePublicOrigin } from '../../accounts/same-origin.ts';
import { deleteRows, fieldsOf, selectRows, updateRows, upsertRow } from '../../database/rows.ts';
import type { Schema } from '../../database/schema.ts';
import type { InvitationTable } from '../../database/tables/accounts.ts';
import { forbidden, limitReached, notFound } from '../api-error.ts';
import { type ApiCaller, type ApiContext, callerKeyOf, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { withAudit } from './audit.ts';
import { customerJson, requireCustomer } from './customers.ts';
import { checkMayGrant, grantExpiry } from './tokens.ts';

export const invitationJson = (row: InvitationTable) => ({
  ...fieldsOf(row, 'id', 'email', 'role', 'created_at', 'expires_at', 'created_by'),
  isOperator: row.is_operator === 1,
});

export const openInvitationsOf = (db: Kysely<Schema>, customerId: string, now: number) =>
  openInvitations(db, now).where('customer_id', '=', customerId).orderBy('created_at').orderBy('id');

type InvitationInput = Pick<InvitationTable, 'customer_id' | 'email' | 'role' | 'is_operator'>;

/** The token is in the fragment, which browsers do not send to servers. */
export function linkWithToken(
  { accounts, service }: ApiServices,
  { header }: ApiContext,
  page: '/invite' | '/usage-link',
  token: string,
): string {
  const origin = resolvePublicOrigin(header('host'), accounts.publicUrl, service().urls.http);
  return `${origin}${page}#token=${token}`;
}

async function checkInvitationQuota(trx: Transaction<Schema>, services: ApiServices, customerId: string) {
  const { invitationsMax } = services.accounts.limits;
  const open = await openInvitationsOf(trx, customerId, services.now()).limit(invitationsMax).execute();
  if (open.length < invitationsMax) return;
  throw limitReached(`The maximum of ${open.length} open invitations has been reached. Revoke some first.`);
}

function invite(services: ApiServices, input: InvitationInput, context: ApiContext) {
  return withAudit(services, context, async (trx) => {
    checkMayGrant(context, input.role);
    await checkInvitationQuota(trx, services, input.customer_id);
    const at = services.now();
    const expires_at = await grantExpiry(trx, context, at + services.accounts.limits.invitationMs);
    const times = { created_by: context.actor, created_at: at, expires_at };
    const created = await addInvitation(trx, { ...input, ...times });
    const { email, role, is_operator } = input;
    const detail = { invitation: created.row.id, email, role, ...(is_operator === 1 && { operator: true }) };
    return [created, { action: 'invitation.create', customerId: input.customer_id, detail }];
  });
}

/** Requires a configured public URL: a link built from a Host header could lead anywhere. */
async function mail(
  { mailer, mailRateLimiter, accounts }: ApiServices,
  { caller }: ApiContext,
  customer: string,
  to: string,
  link: string,
): Promise<boolean> {
  if (mailer === null || accounts.publicUrl === null) return false;
  const waitMs = mailRateLimiter?.({ customer, sender: callerKeyOf(caller), to }) ?? 0;
  if (waitMs > 0) return false;
  const text = [
    'You are invited to Solway. Open',
    link,
    'to create an account or sign in with this email address. The link works once.\n',
  ].join('\n\n');
  try {
    await mailer.send({ to, subject: 'You are invited to Solway', text });
    return true;
  } catch {
    return false;
  }
}

function checkRecipient(row: InvitationTable, caller: Extract<ApiCaller, { kind: 'user' }>): void {
  if (row.email === '' || row.email === caller.email.toLowerCase()) return;
  throw forbidden(
    'OTHER_ADDRESS',
    'This invitation is for a different email address. Sign in with that address.',
  );
}

async function addMember(
  trx: Transaction<Schema>,
  services: ApiServices,
  row: InvitationTable,
  userId: string,
) {
  const { membersMax } = services.accounts.limits;
  const members = await selectRows(trx, 'member', { customer_id: row.customer_id }).execute();
  const own = members.find(({ user_id }) => user_id === userId);
  if (own === undefined && members.length >= membersMax)
    throw limitReached(
      `This customer already has the maximum of ${membersMax} members. Ask an owner to remove one first.`,
    );
  const role = own !== undefined && roleAllows(own.role, row.role) ? own.role : row.role;
  const key = { customer_id: row.customer_id, user_id: userId };
  await upsertRow(trx, 'member', key, { role }, { created_at: services.now() });
  if (row.is_operator === 1) await updateRows(trx, 'auth_user', { id: userId }, { isOperator: 1 });
}

function accept(services: ApiServices, token: string, context: ApiContext) {
  const { caller } = context;
  if (caller.kind !== 'user')
    throw forbidden('PERSONS_ONLY', 'Only users can accept invitations. Sign in and open the link.');
  return withAudit(services, context, async (trx) => {
    const row = await findInvitationByToken(trx, token, services.now());
    if (row === null) throw noSuchInvitation();
    checkRecipient(row, caller);
    await addMember(trx, services, row, caller.userId);
    await updateRows(trx, 'invitation', { id: row.id }, { accepted_at: services.now() });
    const customer = await requireCustomer(trx, row.customer_id);
    const detail = { invitation: row.id, role: row.role, ...(row.is_operator === 1 && { operator: true }) };
    return [customerJson(customer), { action: 'invitation.accept', customerId: customer.id, detail }];
  });
}

function revokeInvitation(services: ApiServices, customerId: string, id: string, context: ApiContext) {
  return withAudit(services, context, async (trx) => {
    const row = await openInvitationsOf(trx, customerId, services.now())
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined) throw notFound('There is no such open invitation. See the list of members.');
    checkMayGrant(context, row.role);
    await deleteRows(trx, 'invitation', { id });
    const detail = { invitation: id, email: row.email, role: row.role };
    return [{ done: true as const }, { action: 'invitation.delete', customerId, detail }];
  });
}

async function inviteAndMail(services: ApiServices, input: InvitationInput, context: ApiContext) {
  const { token, row } = await invite(services, input, context);
  const link = linkWithToken(services, context, '/invite', token);
  const mailed = await mail(services, context, input.customer_id, input.email, link);
  return { invitation: invitationJson(row), link, mailed };
}

async function readInvitation({ store, now }: ApiServices, token: string) {
  const row = await findInvitationByToken(store.db, token, now());
  if (row === null) throw noSuchInvitation();
  const { name } = await requireCustomer(store.db, row.customer_id);
  const { email, role, is_operator, expires_at } = row;
  return { customerName: name, email, role, isOperator: is_operator === 1, expiresAt: expires_at };
}

export const invitationHandlers = (services: ApiServices) =>
  defineHandlers({
    'POST /customers/{customer}/invitations': ({ path, body }, context) =>
      inviteAndMail(services, { ...body, customer_id: path.customer, is_operator: 0 }, context),
    'DELETE /customers/{customer}/invitations/{invitation}': ({ path }, context) =>
      revokeInvitation(services, path.customer, path.invitation, context),
    'POST /invitations/preview': ({ body }) => readInvitation(services, body.token),
    'POST /invitations/accept': async ({ body }, context) => accept(services, body.token, context),
    'POST /operators/invitations': async ({ body }, context) => {
      const input = { ...body, customer_id: DEFAULT_CUSTOMER_ID, role: 'owner', is_operator: 1 } as const;
      const { link } = await inviteAndMail(services, input, context);
      return { link };
    },
  });
