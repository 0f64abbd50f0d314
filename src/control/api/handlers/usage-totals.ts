import { type UsageStatus, usageStatuses } from '../../../gateway/metering/usage-meter.ts';
import type { Store } from '../../database/open.ts';
import { type Axis, zeros } from '../../usage/queries/axis.ts';
import type { UsageFilter, UsageSum } from '../../usage/queries/read-usage.ts';
import { ApiError } from '../api-error.ts';
import type { TotalsJson } from '../contract/usage.ts';

/** What is asked for in the query of the routes of usage. */
export type UsageQuery = Readonly<{
  key?: string | undefined;
  product?: UsageFilter['product'];
  method?: string | undefined;
}>;

export const noTotals = (): TotalsJson => ({
  requests: 0,
  ok: 0,
  credits: 0,
  bytesIn: 0,
  bytesOut: 0,
  messages: 0,
});

/** Adds sums of a status. */
export function addTotals(into: TotalsJson, sum: UsageSum<'status'>): void {
  into.requests += sum.requests;
  if (sum.status === 'ok') into.ok += sum.requests;
  into.credits += sum.credits;
  into.bytesIn += sum.bytes_in;
  into.bytesOut += sum.bytes_out;
  into.messages += sum.messages;
}

/** A series of nothing for each status. */
export const noStatuses = (axis: Axis): Record<UsageStatus, number[]> =>
  Object.fromEntries(usageStatuses.map((status) => [status, zeros(axis)])) as Record<UsageStatus, number[]>;

/** Adds to a step of a series. */
export function addAt(series: number[], at: number, count: number): void {
  series[at] = (series[at] ?? 0) + count;
}

/** The filter of a question about a customer. @throws ApiError 404 for a key that is not the customer's. */
export async function filterOf(
  { db }: Store,
  customerId: string,
  { key, product, method }: UsageQuery,
): Promise<UsageFilter> {
  if (key === undefined) return { customerId, product, method };
  const found = await db
    .selectFrom('api_key')
    .select('id')
    .where('id', '=', key)
    .where('customer_id', '=', customerId)
    .executeTakeFirst();
  if (found === undefined)
    throw new ApiError(404, 'NOT_FOUND', 'key: there is no such key: see the list of keys');
  return { customerId, keys: [key], product, method };
}

/** Names of keys by their ids; the ids of keys without one. */
export async function keyNames({ db }: Store, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const keys = await db.selectFrom('api_key').select(['id', 'name']).where('id', 'in', ids).execute();
  return new Map(keys.map(({ id, name }) => [id, name || id]));
}
