import { amountsOf, readBills, totalsOf } from '../../billing/bill.ts';
import { daysOf, type Month, monthAt, monthNamed, previousMonth } from '../../billing/month.ts';
import {
  findStatement,
  lateUsageOf,
  StatementSigner,
  statementOf,
  statementText,
} from '../../billing/statement.ts';
import { mapCustomer, queueEvents } from '../../billing/stripe-events.ts';
import { differenceText, differingTotals } from '../../billing/stripe-totals.ts';
import { countRows, findRow, selectRows } from '../../database/rows.ts';
import type { Store } from '../../database/store.ts';
import { exportSums } from '../../usage/export-usage.ts';
import { stepMs, type UsageSum } from '../../usage/read-usage.ts';
import { counterColumns } from '../../usage/usage-sums.ts';
import { invalidField, notFound } from '../api-error.ts';
import { type BillJson, MONTH_NAME } from '../contract/billing.ts';
import { type ApiContext, defineHandlers } from '../handler.ts';
import { type ApiServices, usageReaderOf } from '../services.ts';
import { withAudit } from './audit.ts';
import { billLists } from './bill-list.ts';
import { requireCustomer } from './customers.ts';
import { keyNames } from './usage-range.ts';
import { csvLine } from './usage-series.ts';

function monthOf(name: string | undefined, nowMs: number): Month {
  const month = name === undefined ? monthAt(nowMs) : monthNamed(name);
  if (month.from <= nowMs) return month;
  throw invalidField('month', 'is in the future');
}

const MONTHS_MAX = 24;

/** Names of the months since a time, newest first. */
function monthsSince(createdAt: number, nowMs: number): string[] {
  const months: string[] = [];
  for (let month = monthAt(nowMs); month.to > createdAt; month = previousMonth(month)) {
    if (months.push(month.name) === MONTHS_MAX) break;
  }
  return months;
}

async function billOf(
  { store, now }: ApiServices,
  customerId: string,
  monthName: string | undefined,
  role: ApiContext['role'],
): Promise<BillJson> {
  const at = now();
  const month = monthOf(monthName, at);
  const customer = await requireCustomer(store.db, customerId);
  const current = (await readBills(store, month, at, [customerId]))(customer);
  const row = await findStatement(store.db, customerId, month);
  const statement = row && statementOf(row);
  const { planId, monthly, lines } = statement ?? current;
  const late = statement === undefined ? [] : lateUsageOf(statement, current);
  return {
    ...{ month: month.name, from: month.from, to: month.to, planId, monthly, lines: [...lines] },
    lateUsage: [...(statement?.lateUsage ?? [])],
    totals: [...(statement?.totals ?? totalsOf(amountsOf(current)))],
    statement: row === undefined ? null : { id: row.id, keyId: row.key_id, closedAt: row.closed_at },
    lateCredits: late.reduce((sum, { credits }) => sum + credits, 0),
    stripeCustomerId:
      (await findRow(store.db, 'stripe_customer', { customer_id: customerId }))?.stripe_id ?? null,
    stripeProblem: role === 'operator' ? await readStripeProblem(store, customerId, month) : null,
    months: monthsSince(customer.created_at, at),
  };
}

/** A customer that Stripe no longer has is a problem of every month. */
async function readStripeProblem({ db }: Store, customerId: string, month: Month): Promise<string | null> {
  const rows = await differingTotals(db, customerId).execute();
  const row = rows.find(({ month: from, total }) => total === null || from === month.from);
  return row === undefined ? null : differenceText(row);
}

const HEAD = ['month', 'customer', 'key', 'key_name', 'product', 'method', ...counterColumns];

const exportedColumns = ['product', 'method', 'customer_id'] as const;
type ExportedRow = UsageSum<'key_id' | (typeof exportedColumns)[number]>;

const fieldsOf = (month: Month, row: ExportedRow, keys: ReadonlyMap<string, string>) => ({
  ...{ month: month.name, customer: row.customer_id, key: row.key_id, key_name: keys.get(row.key_id) ?? '' },
  ...{ product: row.product, method: row.method },
  ...Object.fromEntries(counterColumns.map((name) => [name, row[name]])),
});

async function* exportLines(
  services: ApiServices,
  month: Month,
  format: 'csv' | 'jsonl',
  customerId: string | null,
): AsyncGenerator<string> {
  const { store, now } = services;
  if (format === 'csv') yield csvLine(HEAD);
  const query = { axis: daysOf(month, now()), filter: { customerId } };
  for await (const rows of exportSums(store, usageReaderOf(services), query, exportedColumns)) {
    const names = await keyNames(store, [...new Set(rows.map(({ key_id }) => key_id))]);
    const records = rows.map((row) => fieldsOf(month, row, names));
    yield format === 'csv'
      ? records.map((record) => csvLine(Object.values(record))).join('\r\n')
      : records.map((record) => JSON.stringify(record)).join('\n');
  }
}

async function requireStatement({ store }: ApiServices, customerId: string, monthName: string) {
  const row = MONTH_NAME.test(monthName)
    ? await findStatement(store.db, customerId, monthNamed(monthName))
    : undefined;
  if (row !== undefined) return row;
  throw notFound(
    `There is no statement for ${monthName.slice(0, 16)}. Months are closed a day after they end.`,
  );
}

async function* one(text: string): AsyncGenerator<string> {
  yield text;
}

async function publicKeys({ store, peppers }: ApiServices) {
  const rows = await selectRows(store.db, 'statement_key', {}).orderBy('created_at').execute();
  const keys = new Map(rows.map(({ id, public_key }) => [id, public_key]));
  // Derived keys replace those of the database, which others may be able to write.
  for (const current of peppers.secrets.keys()) {
    const { keyId, publicKey } = new StatementSigner({ ...peppers, current });
    keys.set(keyId, publicKey);
  }
  return { keys: [...keys].map(([id, key]) => ({ id, publicKey: key })) };
}

async function setStripeCustomer(
  services: ApiServices,
  customerId: string,
  stripeId: string | null,
  context: ApiContext,
) {
  if (stripeId !== null && (await services.stripe?.hasCustomer(stripeId)) === false)
    throw invalidField('stripeCustomerId', 'Stripe has no such customer');
  const row = await findRow(services.store.db, 'stripe_customer', { customer_id: customerId });
  // Usage so far belongs to the previous Stripe customer.
  if (row !== undefined && row.stripe_id !== stripeId)
    await queueEvents(services.store, row, Math.floor(services.now() / stepMs.hour) + 1, services.now());
  return withAudit(services, context, async (trx) => {
    const other =
      stripeId === null ? undefined : await findRow(trx, 'stripe_customer', { stripe_id: stripeId });
    if (other !== undefined && other.customer_id !== customerId)
      throw invalidField('stripeCustomerId', `is already used by customer ${other.customer_id}`);
    await mapCustomer(trx, customerId, stripeId, services.now());
    const detail = { stripeCustomerId: stripeId };
    return [detail, { action: 'customer.stripe', customerId, detail }];
  });
}

const STRIPE_EVENTS_MAX = 100;

async function stripeState({ store, configuration }: ApiServices) {
  const { stripe } = configuration() as { stripe?: { secret_key?: unknown } };
  const rows = await selectRows(store.db, 'stripe_event', {})
    .where('state', '<>', 'sent')
    .where('problem', 'is not', null)
    .orderBy('hour', 'desc')
    .limit(STRIPE_EVENTS_MAX)
    .execute();
  return {
    isConfigured: (stripe?.secret_key ?? null) !== null,
    pending: await countRows(store.db, 'stripe_event', { state: 'pending' }),
    events: rows.map(({ id, customer_id, hour, credits, state, attempts, problem }) => ({
      ...{ id, customerId: customer_id, at: hour * stepMs.hour, credits, attempts },
      ...{ state: state as 'pending' | 'failed', problem: problem ?? '' },
    })),
  };
}

export function billingHandlers(services: ApiServices) {
  const lists = billLists(services);
  return defineHandlers({
    'GET /customers/{customer}/billing': ({ path, query }, { role }) =>
      billOf(services, path.customer, query.month, role),
    'GET /customers/{customer}/billing.csv': async ({ path, query }) =>
      exportLines(services, monthOf(query.month, services.now()), 'csv', path.customer),
    'GET /customers/{customer}/billing.jsonl': async ({ path, query }) =>
      exportLines(services, monthOf(query.month, services.now()), 'jsonl', path.customer),
    'GET /customers/{customer}/statements/{month}/statement.json': async ({ path }) =>
      one(statementText(await requireStatement(services, path.customer, path.month))),
    'GET /customers/{customer}/statements/{month}/statement.json.sig': async ({ path }) =>
      one((await requireStatement(services, path.customer, path.month)).signature),
    'GET /billing': async ({ query }) => ({
      ...(await lists.readPage(monthOf(query.month, services.now()), query)),
      months: monthsSince(0, services.now()),
    }),
    'GET /billing/totals': ({ query }) => lists.readTotals(monthOf(query.month, services.now())),
    'GET /billing.csv': async ({ query }) =>
      exportLines(services, monthOf(query.month, services.now()), 'csv', null),
    'GET /billing.jsonl': async ({ query }) =>
      exportLines(services, monthOf(query.month, services.now()), 'jsonl', null),
    'GET /billing/keys': () => publicKeys(services),
    'PUT /customers/{customer}/stripe': ({ path, body }, context) =>
      setStripeCustomer(services, path.customer, body.stripeCustomerId, context),
    'GET /stripe': () => stripeState(services),
  });
}
