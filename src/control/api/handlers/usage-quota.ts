import { grpcCalls } from '../../../protocol/grpc/calls.ts';
import { methods } from '../../../protocol/methods.ts';
import { subscriptions } from '../../../protocol/subscriptions.ts';
import type { Store } from '../../database/open.ts';
import { monthOf, stepMs } from '../../usage/queries/axis.ts';
import { creditsByDay } from '../../usage/queries/credits-used.ts';
import { quotasOf } from '../../usage/queries/quotas.ts';
import { ApiError } from '../api-error.ts';
import type { Handler } from '../handler.ts';
import type { ApiServices } from '../services.ts';

const NAME = 'GET /customers/{customer}/quota';

/** What calls cost where a plan says nothing else. */
function usualPrices(endpoints: ApiServices['endpoints']): Map<string, number> {
  return new Map([
    ...Object.entries(methods).map(([method, { cost }]) => [method, cost] as const),
    ...Object.values(subscriptions).map(({ subscribe, cost }) => [subscribe, cost] as const),
    ...Object.entries(grpcCalls),
    ...endpoints.map(({ name, credits }) => [name, credits] as const),
  ]);
}

/** The plan that a customer's keys have unless they were given another. @throws ApiError 404 */
async function planOf({ db }: Store, customerId: string) {
  const plan = await db
    .selectFrom('customer')
    .innerJoin('plan', 'plan.id', 'customer.plan_id')
    .select(['plan.prices', 'plan.stream_credits'])
    .where('customer.id', '=', customerId)
    .executeTakeFirst();
  if (plan === undefined) throw new ApiError(404, 'NOT_FOUND', 'customer: there is no such customer');
  return plan;
}

/** Where the quotas of a customer stand, the days of the month, and what calls cost. */
export const usageQuota =
  ({ store, now, endpoints }: ApiServices): Handler<typeof NAME> =>
  async ({ path: { customer } }) => {
    const at = now();
    const plan = await planOf(store, customer);
    const own = JSON.parse(plan.prices) as Record<string, number>;
    const prices = new Map([...usualPrices(endpoints), ...Object.entries(own)]);
    const days = await creditsByDay(store, { customerId: customer }, at);
    const { from } = monthOf(at);
    return {
      quotas: await quotasOf(store, customer, at),
      days: days.map((credits, day) => ({ day: from + day * stepMs.day, credits })),
      prices: [...prices].map(([method, credits]) => ({ method, credits })),
      streamCredits: plan.stream_credits,
    };
  };
