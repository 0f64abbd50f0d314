import { monthOf } from '../../gateway/limits/quota.ts';
import { differenceText, differingTotals } from '../billing/stripe-totals.ts';
import type { Store } from '../database/store.ts';
import {
  type GatewayProblem,
  joinGateways,
  mostUrgent,
  PROBLEMS_MAX,
  type Problem,
  pageOf,
} from './problem.ts';

const GATEWAYS_MAX = 100;

/** Problems of customers that have used all credits of the month. @param customerId - absent: all customers. */
export async function readSpentQuotas(
  { db }: Pick<Store, 'db'>,
  nowMs: number,
  customerId?: string,
): Promise<Problem[]> {
  let query = db
    .selectFrom('quota_notice')
    .innerJoin('plan', 'plan.id', 'quota_notice.plan_id')
    .innerJoin('customer', 'customer.id', 'quota_notice.customer_id')
    .select(['customer.id', 'customer.name', 'plan.name as plan', 'plan.quota_is_hard', 'quota_notice.at'])
    .where('quota_notice.month', '=', monthOf(nowMs).start)
    .where('quota_notice.percent', '=', 100)
    .where('plan.monthly_credits', '>', 0)
    // False once the plan's credits were raised.
    .whereRef('quota_notice.used', '>=', 'plan.monthly_credits')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('api_key')
          .select('api_key.id')
          .whereRef('api_key.customer_id', '=', 'quota_notice.customer_id')
          .whereRef('api_key.plan_id', '=', 'quota_notice.plan_id')
          .where('api_key.state', '<>', 'revoked'),
      ),
    );
  if (customerId !== undefined) query = query.where('customer.id', '=', customerId);
  const rows = await query.orderBy('quota_notice.at', 'desc').limit(PROBLEMS_MAX).execute();
  return rows.map(({ id, name, plan, quota_is_hard, at }) => {
    const isHard = quota_is_hard === 1;
    const effect = isHard
      ? 'Its requests are rejected until the month ends.'
      : 'Its requests are still served.';
    return {
      code: 'quota_spent',
      // For the operator, one customer's quota is not an outage.
      severity: isHard && customerId !== undefined ? 'error' : 'warning',
      since: at,
      ...{ network: null, node: null, customer: { id, name }, gateways: [] },
      text: `${name} has used all monthly credits of the plan ${plan}. ${effect}`,
      page: `${pageOf('quota_spent')}?customer=${encodeURIComponent(id)}`,
    };
  });
}

const STRIPE_LATE_MS = 3_600_000;
/** How long an event that failed permanently remains a problem. */
const STRIPE_FAILED_MS = 7 * 86_400_000;

/** The problem of usage that has not reached Stripe within an hour, if there is any. */
export async function readStripeProblems({ db }: Pick<Store, 'db'>, nowMs: number): Promise<Problem[]> {
  const rows = await db
    .selectFrom('stripe_event')
    .select(({ fn }) => [
      'state',
      fn.countAll<number>().as('count'),
      fn.min<number>('created_at').as('since'),
      fn.max<string>('problem').as('problem'),
    ])
    .where('problem', 'is not', null)
    .where(({ or, and, eb }) =>
      or([
        and([eb('state', '=', 'pending'), eb('created_at', '<=', nowMs - STRIPE_LATE_MS)]),
        and([eb('state', '=', 'failed'), eb('due_at', '>=', nowMs - STRIPE_FAILED_MS)]),
      ]),
    )
    .groupBy('state')
    .orderBy('state')
    .execute();
  const [worst] = rows;
  if (worst === undefined) return [];
  const isFailed = worst.state === 'failed';
  const count = rows.reduce((sum, row) => sum + Number(row.count), 0);
  const events = count === 1 ? 'event' : 'events';
  const failed = isFailed ? `, ${worst.count} failed permanently` : '';
  return [
    {
      ...{ code: 'stripe_push', severity: isFailed ? 'error' : 'warning', since: worst.since },
      ...{ network: null, node: null, customer: null, gateways: [], page: pageOf('stripe_push') },
      text: `Usage was not sent to Stripe (${count} ${events}${failed}): ${worst.problem}`,
    },
  ];
}

/** The problem that totals at Stripe differ from the credits sent, if any do. It links to the first customer. */
export async function readStripeDifferences({ db }: Pick<Store, 'db'>): Promise<Problem[]> {
  const rows = await differingTotals(db).limit(PROBLEMS_MAX).execute();
  const [first] = rows;
  if (first === undefined) return [];
  const others = new Set(rows.map(({ customer_id }) => customer_id)).size - 1;
  const more =
    others === 0 ? '' : ` The totals of ${others} more ${others === 1 ? 'customer' : 'customers'} differ.`;
  return [
    {
      ...{ code: 'stripe_totals', severity: 'error', since: first.problem_since ?? first.compared_at },
      ...{ network: null, node: null, customer: null, gateways: [] },
      text: `${differenceText(first)}${more}`,
      page: `${pageOf('stripe_totals')}&customer=${encodeURIComponent(first.customer_id)}`,
    },
  ];
}

/** All problems of the service, the most urgent first. `gatewayIds` are the gateways that report. */
export async function readProblems(
  store: Pick<Store, 'db'>,
  nowMs: number,
): Promise<Readonly<{ problems: Problem[]; gatewayIds: string[] }>> {
  const rows = await store.db
    .selectFrom('gateway')
    .select(['id', 'problems'])
    .orderBy('id')
    .limit(GATEWAYS_MAX)
    .execute();
  const seen = rows.flatMap(({ id, problems }) =>
    (JSON.parse(problems ?? '[]') as GatewayProblem[]).map((problem) => ({ gateway: id, problem })),
  );
  const spent = await readSpentQuotas(store, nowMs);
  const stripe = [...(await readStripeProblems(store, nowMs)), ...(await readStripeDifferences(store))];
  return {
    problems: mostUrgent([...joinGateways(seen), ...stripe, ...spent]),
    gatewayIds: rows.map(({ id }) => id),
  };
}
