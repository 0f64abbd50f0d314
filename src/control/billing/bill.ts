import { sql } from 'kysely';
import { selectRows } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import type { CustomerTable } from '../database/tables/accounts.ts';
import { segmentsOf, totalRowsOf } from '../usage/read-usage.ts';
import { daysOf, type Month } from './month.ts';
import type { PlanPrice } from './plan-fields.ts';
import { readPrices } from './plan-price.ts';

/** Usage under one plan. Amounts are in minor units of the currency, such as cents. */
export type BillLine = Readonly<{
  /** Empty: usage without a known key. */
  planId: string;
  requests: number;
  credits: number;
  /** null: the plan has no price. */
  price: PlanPrice | null;
  /** Credits beyond those that the price includes. */
  billableCredits: number;
  /** Price of the billable credits. */
  amount: number;
}>;

export type Money = Readonly<{ currency: string; amount: number }>;

/** The bill of a customer for a month, before late usage of earlier months. */
export type Bill = Readonly<{
  customer: Readonly<{ id: string; name: string }>;
  /** Plan of the customer at the end of the month, or now. */
  planId: string;
  /** Monthly price of that plan; null: none. */
  monthly: Money | null;
  lines: readonly BillLine[];
}>;

const MILLION = 1_000_000n;

/** Price of the credits beyond the included ones, rounded to the nearest minor unit, half up. */
export function usageAmount(credits: number, price: PlanPrice | null): number {
  if (price === null) return 0;
  const billable = BigInt(Math.max(0, credits - price.includedCredits));
  return Number((billable * BigInt(price.pricePerMillion) * 2n + MILLION) / (2n * MILLION));
}

/** Totals by currency, without those that are 0. */
export function totalsOf(amounts: readonly Money[]): Money[] {
  const totals = new Map<string, number>();
  for (const { currency, amount } of amounts) totals.set(currency, (totals.get(currency) ?? 0) + amount);
  return [...totals].filter(([, amount]) => amount > 0).map(([currency, amount]) => ({ currency, amount }));
}

export const amountsOf = ({ monthly, lines }: Pick<Bill, 'monthly' | 'lines'>): Money[] => [
  ...(monthly === null ? [] : [monthly]),
  ...lines.flatMap(({ price, amount }) => (price === null ? [] : [{ currency: price.currency, amount }])),
];

type PlanSum = Readonly<{ customer_id: string; plan_id: string; requests: number; credits: number }>;

/** Sums of a month by customer and plan. A combination may be reported several times. */
async function readPlanSums({ db }: Store, month: Month, nowMs: number, customerIds?: readonly string[]) {
  const sums: PlanSum[] = [];
  const ofCustomers =
    customerIds === undefined ? sql`` : sql`and customer_id in (${sql.join([...customerIds])})`;
  for (const segment of await segmentsOf(db, 'total', daysOf(month, nowMs))) {
    const { rows } = await sql<PlanSum>`select customer_id, plan_id,
      cast(sum(requests) as bigint) as requests, cast(sum(credits) as bigint) as credits
      from ${totalRowsOf(segment)} ${ofCustomers} group by customer_id, plan_id`.execute(db);
    sums.push(...rows);
  }
  return sums;
}

type Past = Readonly<{ plans: ReadonlyMap<string, string>; deletedLater: ReadonlySet<string> }>;

/** Plans that customers had at `atMs` if they changed since, and the customers deleted since. */
async function readPast({ db }: Store, atMs: number, customerIds?: readonly string[]): Promise<Past> {
  const rows = await selectRows(db, 'audit', {})
    .$if(customerIds !== undefined, (query) => query.where('customer_id', 'in', customerIds ?? []))
    .where('at', '>=', atMs)
    .where('action', 'in', ['customer.change', 'customer.plan-undo', 'customer.delete'])
    .orderBy('id', 'desc')
    .execute();
  const plans = new Map<string, string>();
  const deletedLater = new Set<string>();
  for (const { customer_id, action, detail } of rows) {
    if (customer_id !== null && action === 'customer.delete') deletedLater.add(customer_id);
    const { plan_id_before: planId } = JSON.parse(detail) as { plan_id_before?: string };
    if (customer_id !== null && planId !== undefined) plans.set(customer_id, planId);
  }
  return { plans, deletedLater };
}

export type BilledCustomer = Pick<CustomerTable, 'id' | 'name' | 'plan_id' | 'state' | 'created_at'>;

type LineSums = Map<string, { requests: number; credits: number }>;

function sumsByCustomer(sums: readonly PlanSum[]): Map<string, LineSums> {
  const customers = new Map<string, LineSums>();
  for (const { customer_id, plan_id, requests, credits } of sums) {
    const lines: LineSums = customers.get(customer_id) ?? new Map();
    customers.set(customer_id, lines);
    const line = lines.get(plan_id) ?? { requests: 0, credits: 0 };
    lines.set(plan_id, { requests: line.requests + requests, credits: line.credits + credits });
  }
  return customers;
}

/**
 * Returns a function that computes the bills of a month. Usage is priced by the plan under which it was used, with the
 * prices at the end of the month, or now. @param customerIds - not empty; absent: all customers.
 */
export async function readBills(
  store: Store,
  month: Month,
  nowMs: number,
  customerIds?: readonly string[],
): Promise<(customer: BilledCustomer) => Bill> {
  const sums = sumsByCustomer(await readPlanSums(store, month, nowMs, customerIds));
  const prices = await readPrices(store.db, Math.min(month.to - 1, nowMs));
  const { plans, deletedLater } = await readPast(store, month.to, customerIds);
  return ({ id, name, plan_id, state, created_at }) => {
    const lines = [...(sums.get(id) ?? [])].map(([planId, { requests, credits }]) => {
      const price = prices.get(planId) ?? null;
      const billableCredits = price === null ? 0 : Math.max(0, credits - price.includedCredits);
      return { planId, requests, credits, price, billableCredits, amount: usageAmount(credits, price) };
    });
    const planId = plans.get(id) ?? plan_id;
    const isCustomer = created_at < month.to && (state !== 'deleted' || deletedLater.has(id));
    const price = isCustomer ? (prices.get(planId) ?? null) : null;
    const monthly =
      price === null || price.monthlyPrice === 0
        ? null
        : { currency: price.currency, amount: price.monthlyPrice };
    const sorted = lines.toSorted((one, other) => (one.planId < other.planId ? -1 : 1));
    return { customer: { id, name }, planId, monthly, lines: sorted };
  };
}
