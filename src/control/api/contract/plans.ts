import { z } from 'zod';
import {
  CREDITS_MAX,
  isCurrency,
  METHOD_CREDITS_MAX,
  METHOD_NAME,
  MONTHLY_PRICE_MAX,
  PRICE_PER_MILLION_MAX,
  planLimitRanges,
} from '../../billing/plan-fields.ts';
import type { Route, RouteName } from './route.ts';
import { count, done, name, time } from './values.ts';

const amount = (max: number) => z.number().int().min(0).max(max);

/** Amounts are in minor units of the currency, such as cents. */
export const planPrice = z.strictObject({
  currency: z
    .string()
    .max(3)
    .refine(isCurrency, 'must be a lowercase currency code (ISO 4217), such as "usd"'),
  monthlyPrice: amount(MONTHLY_PRICE_MAX),
  /** Credits that the monthly price covers. */
  includedCredits: amount(CREDITS_MAX),
  /** Price of a million further credits. */
  pricePerMillion: amount(PRICE_PER_MILLION_MAX),
});

const numericLimits = Object.fromEntries(
  Object.entries(planLimitRanges).map(([limit, [min, max]]) => [limit, z.number().int().min(min).max(max)]),
) as Record<keyof typeof planLimitRanges, z.ZodNumber>;

const limits = z.strictObject({
  ...numericLimits,
  quotaIsHard: z.boolean(),
  /** Credits of methods, overriding the method table. */
  prices: z.record(z.string().regex(METHOD_NAME), amount(METHOD_CREDITS_MAX)),
});

const PLAN_ID_RULE = 'must have 1 to 32 lowercase letters, digits and dashes';

const plan = z.object({
  id: z.string(),
  name: z.string(),
  /** `file`: defined in the configuration, which alone can change it. */
  source: z.enum(['file', 'stored']),
  limits,
  price: planPrice.nullable(),
  customers: count,
  keys: count,
  /** An archived plan keeps its customers and keys, and gets no new ones. */
  archivedAt: time.nullable(),
  /** Time of the last edit that can be undone. */
  undoAt: time.nullable(),
});
export type PlanJson = z.infer<typeof plan>;

const fields = z.object({ name, limits: limits.partial(), price: planPrice.nullable() });

export const planRoutes = {
  'GET /plans': {
    access: 'operator',
    summary: 'List plans',
    result: z.object({ plans: z.array(plan) }),
  },
  'POST /plans': {
    access: 'operator',
    summary: 'Create a plan',
    body: fields.partial().extend({ id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, PLAN_ID_RULE) }),
    result: plan,
  },
  'PATCH /plans/{plan}': {
    access: 'operator',
    summary: 'Change a plan that the configuration does not define',
    body: fields.partial(),
    result: plan,
  },
  'POST /plans/{plan}/undo': {
    access: 'operator',
    summary: 'Undo the last change of a plan',
    result: plan,
  },
  'POST /plans/{plan}/archive': {
    access: 'operator',
    summary: 'Archive a plan: it can no longer be assigned',
    result: plan,
  },
  'POST /plans/{plan}/restore': { access: 'operator', summary: 'Restore an archived plan', result: plan },
  'DELETE /plans/{plan}': {
    access: 'operator',
    summary: 'Delete a plan that was never used',
    result: done,
  },
  'POST /customers/{customer}/plan/undo': {
    access: 'operator',
    summary: "Undo a customer's last plan change. Operators only",
    result: z.object({ planId: z.string() }),
  },
} as const satisfies Record<RouteName, Route>;
