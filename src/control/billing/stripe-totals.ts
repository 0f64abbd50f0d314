import { type Kysely, sql } from 'kysely';
import { selectRows, upsertRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { StripeCustomerTable, StripeTotalTable } from '../database/tables/billing.ts';
import { stepMs } from '../usage/read-usage.ts';
import { type Month, monthAt } from './month.ts';

/** Within this time, the totals of Stripe contain events that it has accepted. */
export const SETTLED_MS = stepMs.hour;

/** Mapped customers to compare, by id: those not compared for a day, or for an hour if the totals differed. */
export const customersToCompare = (
  db: Kysely<Schema>,
  { month, after, limit, nowMs }: Readonly<{ month: Month; after: string; limit: number; nowMs: number }>,
): Promise<StripeCustomerTable[]> =>
  db
    .selectFrom('stripe_customer')
    .leftJoin('stripe_total', (join) =>
      join
        .onRef('stripe_total.customer_id', '=', 'stripe_customer.customer_id')
        .onRef('stripe_total.stripe_id', '=', 'stripe_customer.stripe_id')
        .on('stripe_total.month', '=', month.from),
    )
    .selectAll('stripe_customer')
    .where('stripe_customer.customer_id', '>', after)
    .where(({ eb, and, or }) =>
      or([
        eb('stripe_total.compared_at', 'is', null),
        eb('stripe_total.compared_at', '<=', nowMs - stepMs.day),
        and([
          eb('stripe_total.problem_since', 'is not', null),
          eb('stripe_total.compared_at', '<=', nowMs - stepMs.hour),
        ]),
      ]),
    )
    .orderBy('stripe_customer.customer_id')
    .limit(limit)
    .execute();

/** `min`: credits that the total at Stripe must contain; `max`: also those of events that it may not contain yet. */
type SentCredits = Readonly<{ min: number; max: number }>;

/**
 * Credits sent for a month up to a time. @param toMs - start of an hour, exclusive.
 * @param settledMs - events sent later may be missing in the total.
 */
export async function sentInMonth(
  db: Kysely<Schema>,
  stripeId: string,
  { from }: Month,
  toMs: number,
  settledMs: number,
): Promise<SentCredits> {
  const { rows } = await sql<SentCredits>`select
    cast(coalesce(sum(case when state = 'sent' and due_at <= ${settledMs} then credits end), 0) as bigint) as min,
    cast(coalesce(sum(credits), 0) as bigint) as max
    from stripe_event where stripe_id = ${stripeId}
    and hour >= ${from / stepMs.hour} and hour < ${toMs / stepMs.hour}
    and (state = 'sent' or outcome_unknown_since is not null)`.execute(db);
  return rows[0] ?? { min: 0, max: 0 };
}

type Compared = Readonly<{
  customer: StripeCustomerTable;
  month: Month;
  sent: SentCredits;
  /** null: Stripe has no such customer. */
  total: number | null;
  nowMs: number;
}>;

const comparisonOf = (db: Kysely<Schema>, { customer_id, stripe_id }: StripeCustomerTable, { from }: Month) =>
  selectRows(db, 'stripe_total', { customer_id, stripe_id, month: from }).executeTakeFirst();

/** Stores the result of a comparison. */
export async function recordTotal(db: Kysely<Schema>, compared: Compared): Promise<void> {
  const { customer, month, sent, total: given, nowMs } = compared;
  const { customer_id, stripe_id } = customer;
  const total = given === null ? null : Math.round(given);
  const expected = Math.min(Math.max(total ?? sent.min, sent.min), sent.max);
  const before = await comparisonOf(db, customer, month);
  const problem_since = total === expected ? null : (before?.problem_since ?? nowMs);
  const values = { stripe_id, sent: expected, total, compared_at: nowMs, problem_since };
  await upsertRow(db, 'stripe_total', { customer_id, month: month.from }, values);
}

/** Whether an ended month was equal after `closedMs`, and no event of it was sent since. */
export async function isSettled(
  db: Kysely<Schema>,
  customer: StripeCustomerTable,
  month: Month,
  closedMs: number,
  { min, max }: SentCredits,
): Promise<boolean> {
  const last = await comparisonOf(db, customer, month);
  if (last === undefined || last.total === null || last.problem_since !== null) return false;
  return last.compared_at >= closedMs && last.total >= min && last.total <= max;
}

/** Deletes comparisons of earlier months, whose events Stripe no longer accepts, and of unmapped customers. */
export async function pruneTotals(db: Kysely<Schema>, { from }: Month): Promise<void> {
  const mapped = db.selectFrom('stripe_customer').select('customer_id');
  await db
    .deleteFrom('stripe_total')
    .where(({ eb, or }) => or([eb('month', '<', from), eb('customer_id', 'not in', mapped)]))
    .execute();
}

/** Differences of mapped customers, the oldest first. @param customerId - absent: all customers. */
export const differingTotals = (db: Kysely<Schema>, customerId?: string) =>
  db
    .selectFrom('stripe_total')
    .innerJoin('stripe_customer', (join) =>
      join
        .onRef('stripe_customer.customer_id', '=', 'stripe_total.customer_id')
        .onRef('stripe_customer.stripe_id', '=', 'stripe_total.stripe_id'),
    )
    .selectAll('stripe_total')
    .where('stripe_total.problem_since', 'is not', null)
    .$if(customerId !== undefined, (query) => query.where('stripe_total.customer_id', '=', customerId ?? ''))
    .orderBy('stripe_total.problem_since')
    .orderBy('stripe_total.customer_id');

/** One sentence with the remedy, for operators. */
export function differenceText({ customer_id, stripe_id, month, sent, total }: StripeTotalTable): string {
  if (total === null)
    return `Stripe no longer has the customer ${stripe_id}: set another Stripe customer ID for ${customer_id}.`;
  const counts = `${total.toLocaleString('en')} credits instead of ${sent.toLocaleString('en')}`;
  const remedy =
    total < sent
      ? 'add the rest to its invoice in Stripe'
      : 'remove the rest from its invoice in Stripe, and let nothing else use the meter';
  return `For ${monthAt(month).name}, Stripe has ${counts} of ${customer_id}: ${remedy}.`;
}
