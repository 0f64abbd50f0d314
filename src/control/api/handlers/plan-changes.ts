import type { Transaction } from 'kysely';
import { defaultPlanLimits } from '../../../gateway/auth/key-record.ts';
import { undoPlan } from '../../billing/customer-plan.ts';
import { readPrice } from '../../billing/plan-price.ts';
import { deleteRows, findRow, updateRows, upsertRow } from '../../database/rows.ts';
import type { PlanTable, Schema } from '../../database/schema.ts';
import { omitUndefined } from '../../keys/create-key.ts';
import { auditDetailOf, type Plan, planLimitsOf, planSubject, savePlan } from '../../plans.ts';
import { conflict, limitReached, notFound } from '../api-error.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import { type ApiContext, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { withAudit } from './audit.ts';
import { requireCustomer } from './customers.ts';
import { listPlans } from './plans.ts';

const PLANS_MAX = 1_000;

async function onePlan(services: ApiServices, id: string) {
  const found = (await listPlans(services)).find((plan) => plan.id === id);
  if (found === undefined) throw notFound(`There is no plan ${id}. GET /plans lists them.`);
  return found;
}

function checkNotInFile({ service }: ApiServices, id: string): void {
  if (!service().plans.some((plan) => plan.id === id)) return;
  throw conflict('FILE_PLAN', `The plan ${id} is defined in the configuration. Change it there and reload.`);
}

async function requirePlan(trx: Transaction<Schema>, services: ApiServices, id: string): Promise<PlanTable> {
  checkNotInFile(services, id);
  const row = await findRow(trx, 'plan', { id });
  if (row === undefined) throw notFound(`There is no plan ${id}. GET /plans lists them.`);
  return row;
}

const readPlan = async (trx: Transaction<Schema>, row: PlanTable): Promise<Plan> => ({
  ...{ id: row.id, name: row.name, limits: planLimitsOf(row) },
  price: await readPrice(trx, row.id),
});

async function create(
  services: ApiServices,
  { id, name = id, limits = {}, price = null }: ParsedRouteInput<'POST /plans'>['body'],
  context: ApiContext,
) {
  checkNotInFile(services, id);
  await withAudit(services, context, async (trx, version) => {
    const existing = await trx.selectFrom('plan').select('id').execute();
    if (existing.some((plan) => plan.id === id))
      throw conflict('PLAN_EXISTS', `There is a plan ${id} already. Choose another id.`, {
        fields: { id: 'This id is already in use.' },
      });
    if (existing.length >= PLANS_MAX)
      throw limitReached(`The maximum of ${PLANS_MAX} plans has been reached`);
    const plan: Plan = { id, name, limits: { ...defaultPlanLimits, ...omitUndefined(limits) }, price };
    await savePlan(trx, plan, version, services.now());
    return [null, { action: 'plan.create', customerId: null, detail: auditDetailOf(plan) }];
  });
  return onePlan(services, id);
}

async function change(
  services: ApiServices,
  id: string,
  { name, limits = {}, price }: ParsedRouteInput<'PATCH /plans/{plan}'>['body'],
  context: ApiContext,
) {
  await withAudit(services, context, async (trx, version) => {
    const row = await requirePlan(trx, services, id);
    const before = await readPlan(trx, row);
    const after: Plan = {
      ...{ id, name: name ?? before.name, limits: { ...before.limits, ...omitUndefined(limits) } },
      price: price === undefined ? before.price : price,
    };
    if (JSON.stringify(after) === JSON.stringify(before)) return [null, null];
    const at = services.now();
    await upsertRow(trx, 'plan_undo', { subject: planSubject(id) }, { at, state: JSON.stringify(before) });
    await replacePlan(trx, row, after, version, at);
    return [null, { action: 'plan.set', customerId: null, detail: auditDetailOf(after) }];
  });
  return onePlan(services, id);
}

async function replacePlan(
  trx: Transaction<Schema>,
  { archived_at }: PlanTable,
  plan: Plan,
  version: number,
  nowMs: number,
): Promise<void> {
  await savePlan(trx, plan, version, nowMs);
  await updateRows(trx, 'plan', { id: plan.id }, { archived_at });
}

async function undo(services: ApiServices, id: string, context: ApiContext) {
  await withAudit(services, context, async (trx, version) => {
    const row = await requirePlan(trx, services, id);
    const subject = planSubject(id);
    const stored = await findRow(trx, 'plan_undo', { subject });
    if (stored === undefined) throw conflict('NOTHING_TO_UNDO', 'There is no plan change to undo.');
    const before = JSON.parse(stored.state) as Plan;
    await replacePlan(trx, row, before, version, services.now());
    await deleteRows(trx, 'plan_undo', { subject });
    return [null, { action: 'plan.undo', customerId: null, detail: auditDetailOf(before) }];
  });
  return onePlan(services, id);
}

async function setArchived(services: ApiServices, id: string, isArchived: boolean, context: ApiContext) {
  await withAudit(services, context, async (trx) => {
    const { archived_at } = await requirePlan(trx, services, id);
    if ((archived_at !== null) === isArchived) return [null, null];
    await updateRows(trx, 'plan', { id }, { archived_at: isArchived ? services.now() : null });
    const action = isArchived ? 'plan.archive' : 'plan.restore';
    return [null, { action, customerId: null, detail: { plan: id } }];
  });
  return onePlan(services, id);
}

async function checkUnused(trx: Transaction<Schema>, id: string): Promise<void> {
  for (const table of ['customer', 'api_key', 'usage_total'] as const) {
    if ((await findRow(trx, table, { plan_id: id })) === undefined) continue;
    throw conflict('PLAN_IN_USE', `Customers or API keys have used the plan ${id}. Archive it instead.`);
  }
}

const remove = (services: ApiServices, id: string, context: ApiContext) =>
  withAudit(services, context, async (trx) => {
    await requirePlan(trx, services, id);
    await checkUnused(trx, id);
    await deleteRows(trx, 'plan_price', { plan_id: id });
    await deleteRows(trx, 'plan_undo', { subject: planSubject(id) });
    await deleteRows(trx, 'plan', { id });
    return [{ done: true as const }, { action: 'plan.delete', customerId: null, detail: { plan: id } }];
  });

function undoCustomerPlan(services: ApiServices, id: string, context: ApiContext) {
  return withAudit(services, context, async (trx, version) => {
    const row = await requireCustomer(trx, id);
    const planId = await undoPlan(trx, row, version);
    const detail = { plan_id: planId, plan_id_before: row.plan_id };
    return [{ planId }, { action: 'customer.plan-undo', customerId: id, detail }];
  });
}

export const planChangeHandlers = (services: ApiServices) =>
  defineHandlers({
    'POST /plans': ({ body }, context) => create(services, body, context),
    'PATCH /plans/{plan}': ({ path, body }, context) => change(services, path.plan, body, context),
    'POST /plans/{plan}/undo': ({ path }, context) => undo(services, path.plan, context),
    'POST /plans/{plan}/archive': ({ path }, context) => setArchived(services, path.plan, true, context),
    'POST /plans/{plan}/restore': ({ path }, context) => setArchived(services, path.plan, false, context),
    'DELETE /plans/{plan}': ({ path }, context) => remove(services, path.plan, context),
    'POST /customers/{customer}/plan/undo': ({ path }, context) =>
      undoCustomerPlan(services, path.customer, context),
  });
