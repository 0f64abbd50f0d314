import type { RouteOutput } from '../api/contract/contract.ts';
import type { Store } from '../database/store.ts';

type UnknownMethodJson = RouteOutput<'GET /unknown-methods'>['methods'][number];

const METHODS_MAX = 200;
const HOUR_MS = 3_600_000;

/** Unknown methods, most called first. Counts whole hours. @param from - Unix milliseconds, like `to`. */
export async function readUnknownMethods(
  { db }: Store,
  { from, to, customer }: Readonly<{ from: number; to: number; customer?: string | undefined }>,
): Promise<UnknownMethodJson[]> {
  let counts = db
    .selectFrom('unknown_method')
    .where('hour', '>=', Math.floor(from / HOUR_MS))
    .where('hour', '<', Math.ceil(to / HOUR_MS));
  if (customer !== undefined) counts = counts.where('customer_id', '=', customer);
  const rows = await counts
    .select(({ fn }) => [
      'method',
      fn.sum<number>('calls').as('calls'),
      fn.count<number>('customer_id').distinct().as('customers'),
      fn.max('last_at').as('last_at'),
    ])
    .groupBy('method')
    .orderBy('calls', 'desc')
    .orderBy('method')
    .limit(METHODS_MAX)
    .execute();
  return rows.map(({ method, calls, customers, last_at: lastAt }) => ({
    method,
    requests: Number(calls),
    customers: Number(customers),
    lastAt: Number(lastAt),
  }));
}
