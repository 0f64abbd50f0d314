import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { deleteCustomer } from '../../accounts/delete-customer.ts';
import { type CustomerState, DEFAULT_CUSTOMER_ID } from '../../accounts/roles.ts';
import { moveKeys } from '../../billing/customer-plan.ts';
import { countRows, fieldsOf, findRow, insertRow, selectRows, updateRows } from '../../database/rows.ts';
import type { Schema } from '../../database/schema.ts';
import type { CustomerTable } from '../../database/tables/accounts.ts';
import { DEFAULT_PLAN_ID } from '../../plans.ts';
import { conflict, forbidden, invalidField, limitReached } from '../api-error.ts';
import type { CustomerJson } from '../contract/accounts.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import { type ApiContext, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { withAudit } from './audit.ts';

export const customerJson = ({ state, ...row }: Omit<CustomerTable, 'version'>): CustomerJson => ({
  ...fieldsOf(row, 'id', 'name', 'plan_id', 'created_at'),
  // No route returns a deleted customer.
  state: state as CustomerState,
});

export const requireCustomer = (db: Kysely<Schema>, id: string) =>
  selectRows(db, 'customer', { id }).executeTakeFirstOrThrow();

async function checkCustomerQuota(trx: Transaction<Schema>, { accounts }: ApiServices, userId: string) {
  const count = await countRows(trx, 'member', { user_id: userId, role: 'owner' });
  const { customersPerUserMax } = accounts.limits;
  if (count < customersPerUserMax) return;
  throw limitReached(`You own ${count} customers, which is the maximum. Use one of them.`);
}

/** Prevents owners from evading a suspension by creating a new customer. */
async function checkNoneSuspended(trx: Transaction<Schema>, userId: string): Promise<void> {
  const row = await trx
    .selectFrom('member')
    .innerJoin('customer', 'customer.id', 'member.customer_id')
    .select('customer.id')
    .where('user_id', '=', userId)
    .where('role', '=', 'owner')
    .where('state', '=', 'suspended')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return;
  throw forbidden(
    'CUSTOMER_SUSPENDED',
    'You own a suspended customer, so you cannot create another. Ask the operator.',
  );
}

async function checkMayCreate(trx: Transaction<Schema>, services: ApiServices, { caller, role }: ApiContext) {
  if (role === 'operator') return;
  if (caller.kind !== 'user' || services.accounts.signUp !== 'open')
    throw forbidden('OPERATOR_ONLY', 'Only the operator creates customers here. Ask for an invitation.');
  await checkNoneSuspended(trx, caller.userId);
  await checkCustomerQuota(trx, services, caller.userId);
}

function createCustomer(services: ApiServices, name: string, context: ApiContext): Promise<CustomerJson> {
  return withAudit(services, context, async (trx, version) => {
    await checkMayCreate(trx, services, context);
    const id = randomBytes(8).toString('hex');
    const at = services.now();
    const row = { id, name, plan_id: DEFAULT_PLAN_ID, state: 'active', created_at: at, version } as const;
    await insertRow(trx, 'customer', row);
    const { caller } = context;
    if (caller.kind === 'user') {
      const member = { customer_id: id, user_id: caller.userId, role: 'owner', created_at: at } as const;
      await insertRow(trx, 'member', member);
    }
    return [customerJson(row), { action: 'customer.create', customerId: id, detail: { name } }];
  });
}

type Change = ParsedRouteInput<'PATCH /customers/{customer}'>['body'];

async function checkChange(
  trx: Transaction<Schema>,
  id: string,
  { planId, state }: Change,
  { role }: ApiContext,
) {
  if (role !== 'operator' && (planId !== undefined || state !== undefined))
    throw forbidden('OPERATOR_ONLY', 'Only the operator can change plan and state');
  if (state === 'suspended' && id === DEFAULT_CUSTOMER_ID)
    throw conflict('HOUSE', 'The built-in customer cannot be suspended. Disable its keys instead.');
  if (planId === undefined) return;
  const plan = await findRow(trx, 'plan', { id: planId });
  if (plan === undefined) throw invalidField('planId', 'There is no such plan. GET /plans lists them.');
  const { plan_id } = await requireCustomer(trx, id);
  if (plan.archived_at !== null && plan_id !== planId)
    throw invalidField('planId', 'This plan is archived. Restore it first, or choose another.');
}

function differences(row: CustomerTable, { name, planId, state }: Change) {
  const set: Partial<CustomerTable> = {};
  const detail: Record<string, string> = {};
  for (const [column, value] of Object.entries({ name, plan_id: planId, state })) {
    const before = row[column as 'name' | 'plan_id' | 'state'];
    if (value === undefined || value === before) continue;
    Object.assign(set, { [column]: value });
    Object.assign(detail, { [column]: value, [`${column}_before`]: before });
  }
  return { set, detail };
}

function changeCustomer(services: ApiServices, id: string, change: Change, context: ApiContext) {
  return withAudit(services, context, async (trx, version) => {
    await checkChange(trx, id, change, context);
    const row = await requireCustomer(trx, id);
    const { set, detail } = differences(row, change);
    if (Object.keys(set).length === 0) return [customerJson(row), null];
    await updateRows(trx, 'customer', { id }, { ...set, version });
    if (set.plan_id !== undefined) await moveKeys(trx, row, set.plan_id, services.now());
    return [customerJson({ ...row, ...set }), { action: 'customer.change', customerId: id, detail }];
  });
}

function removeCustomer(services: ApiServices, id: string, name: string, context: ApiContext) {
  if (id === DEFAULT_CUSTOMER_ID)
    throw conflict('HOUSE', 'The built-in customer cannot be deleted. Revoke its keys instead.');
  return withAudit(services, context, async (trx, version) => {
    const row = await requireCustomer(trx, id);
    if (row.name !== name)
      throw invalidField('name', `must be the name of the customer, ${JSON.stringify(row.name)}`);
    const { actor, address, userAgent, requestId } = context;
    const by = { actor, now: services.now, origin: { address, userAgent, requestId } };
    const detail = await deleteCustomer(trx, by, id, version);
    return [{ done: true as const }, { action: 'customer.delete', customerId: id, detail }];
  });
}

export const customerHandlers = (services: ApiServices) =>
  defineHandlers({
    'POST /customers': ({ body }, context) => createCustomer(services, body.name, context),
    'GET /customers/{customer}': async ({ path }) =>
      customerJson(await requireCustomer(services.store.db, path.customer)),
    'PATCH /customers/{customer}': ({ path, body }, context) =>
      changeCustomer(services, path.customer, body, context),
    'POST /customers/{customer}/delete': ({ path, body }, context) =>
      removeCustomer(services, path.customer, body.name, context),
  });
