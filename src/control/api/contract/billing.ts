import { z } from 'zod';
import { planPrice } from './plans.ts';
import type { Route, RouteName } from './route.ts';
import { count, pageOf, pageQuery, sortBy, time } from './values.ts';

export const MONTH_NAME: RegExp = /^[1-9]\d{3}-(0[1-9]|1[0-2])$/;

/** A calendar month (UTC), such as `2026-11`; default: the current one. */
const month = z.string().regex(MONTH_NAME, 'must be a month such as 2026-11').optional();
const monthQuery = z.object({ month });

/** Amounts are in minor units of the currency, such as cents. */
const money = z.object({ currency: z.string(), amount: count });

const line = z.object({
  /** Empty: usage without a known key. */
  planId: z.string(),
  requests: count,
  credits: count,
  price: planPrice.nullable(),
  /** Credits beyond those that the monthly price includes. */
  billableCredits: count,
  amount: count,
});

const bill = z.object({
  month: z.string(),
  from: time,
  to: time,
  /** Plan at the end of the month, or now. */
  planId: z.string(),
  monthly: money.nullable(),
  lines: z.array(line),
  /** Usage of the previous month that arrived after its statement. */
  lateUsage: z.array(money.extend({ month: z.string(), planId: z.string(), credits: count })),
  totals: z.array(money),
  /** null: the month is not closed, and the amounts may change. */
  statement: z.object({ id: z.string(), keyId: z.string(), closedAt: time }).nullable(),
  /** Credits that arrived after the month was closed. The next statement contains them. */
  lateCredits: count,
  /** Stripe customer ID; null: usage is not reported. */
  stripeCustomerId: z.string().nullable(),
  /** How Stripe's total differs from the credits sent, and the remedy; null if it does not, or for non-operators. */
  stripeProblem: z.string().nullable(),
  /** Months since the customer was created, newest first, at most 24. */
  months: z.array(z.string()),
});
export type BillJson = z.infer<typeof bill>;

const billedCustomer = z.object({
  customerId: z.string(),
  customerName: z.string(),
  planId: z.string(),
  requests: count,
  credits: count,
  totals: z.array(money),
  isClosed: z.boolean(),
});

export const billingRoutes = {
  'GET /customers/{customer}/billing': {
    access: 'viewer',
    summary: 'Show the bill of a month by plan. Closed months do not change',
    query: monthQuery,
    result: bill,
  },
  'GET /customers/{customer}/billing.csv': {
    access: 'viewer',
    summary: 'Export the usage of a month as CSV, by key, product and method',
    query: monthQuery,
    format: 'csv',
  },
  'GET /customers/{customer}/billing.jsonl': {
    access: 'viewer',
    summary: 'Export the usage of a month as JSON Lines',
    query: monthQuery,
    format: 'jsonl',
  },
  'GET /customers/{customer}/statements/{month}/statement.json': {
    access: 'viewer',
    summary: 'Download the statement of a closed month',
    format: 'document',
  },
  'GET /customers/{customer}/statements/{month}/statement.json.sig': {
    access: 'viewer',
    summary: 'Download the Ed25519 signature of a statement, in base64',
    format: 'text',
  },
  'GET /billing': {
    access: 'operator',
    summary: 'List the bills of a month, up to 5 minutes old if sorted by amount',
    query: pageQuery.extend({
      month,
      /** Part of a name, or an id. */
      search: z.string().max(64).optional(),
      sort: sortBy('name', 'requests', 'credits', 'total'),
    }),
    result: pageOf(billedCustomer).extend({
      /** The last 24 months, newest first. */
      months: z.array(z.string()),
    }),
  },
  'GET /billing/totals': {
    access: 'operator',
    summary: 'Show the totals of all bills of a month, up to 5 minutes old',
    query: monthQuery,
    result: z.object({ requests: count, credits: count, totals: z.array(money) }),
  },
  'GET /billing.csv': {
    access: 'operator',
    summary: 'Export the usage of all customers in a month as CSV',
    query: monthQuery,
    format: 'csv',
  },
  'GET /billing.jsonl': {
    access: 'operator',
    summary: 'Export the usage of all customers in a month as JSON Lines',
    query: monthQuery,
    format: 'jsonl',
  },
  'PUT /customers/{customer}/stripe': {
    access: 'operator',
    summary: 'Set the Stripe customer ID to which usage is reported. Operators only',
    body: z.object({
      stripeCustomerId: z
        .string()
        .regex(/^cus_[A-Za-z0-9]{1,64}$/, 'must be a Stripe customer ID, such as cus_NffrFeUfNV2Hib')
        .nullable(),
    }),
    result: z.object({ stripeCustomerId: z.string().nullable() }),
  },
  'GET /stripe': {
    access: 'operator',
    summary: 'List hours of usage that could not be sent to Stripe',
    result: z.object({
      /** Whether stripe.secret_key is set. */
      isConfigured: z.boolean(),
      pending: count,
      events: z.array(
        z.object({
          id: z.string(),
          customerId: z.string(),
          at: time,
          credits: count,
          state: z.enum(['pending', 'failed']),
          attempts: count,
          problem: z.string(),
        }),
      ),
    }),
  },
  'GET /billing/keys': {
    access: 'anybody',
    summary: 'List the public keys (Ed25519) that verify statements',
    result: z.object({ keys: z.array(z.object({ id: z.string(), publicKey: z.string() })) }),
  },
} as const satisfies Record<RouteName, Route>;
