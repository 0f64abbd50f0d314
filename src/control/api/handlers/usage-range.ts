import { type UsageStatus, usageStatuses } from '../../../gateway/metering/usage-status.ts';
import { findRow, namesOf } from '../../database/rows.ts';
import type { Store } from '../../database/store.ts';
import { type UsageStep, usageSteps } from '../../database/tables/usage.ts';
import {
  type Axis,
  axisOver,
  stepMs,
  type UsageFilter,
  type UsageQuery,
  type UsageSum,
  zeros,
} from '../../usage/read-usage.ts';
import { retentionStarts } from '../../usage/usage-rows.ts';
import { invalidField, notFound } from '../api-error.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import type { TotalsJson } from '../contract/usage.ts';

/** Longest ranges shown by minute and by hour, and the longest range allowed. */
const MINUTES_MAX_MS = 6 * stepMs.hour;
const HOURS_MAX_MS = 14 * stepMs.day;
const RANGE_MAX_MS = 400 * stepMs.day;
const DEFAULT_RANGE_MS = stepMs.hour;

type UsageRouteQuery = ParsedRouteInput<'GET /customers/{customer}/usage.csv'>['query'];
type Range = Pick<UsageRouteQuery, 'from' | 'to'>;

function stepOf(lengthMs: number): UsageStep {
  if (lengthMs <= MINUTES_MAX_MS) return 'minute';
  return lengthMs <= HOURS_MAX_MS ? 'hour' : 'day';
}

function rangeOf({ from, to }: Range, nowMs: number): Readonly<{ fromMs: number; toMs: number }> {
  // By default, the range includes the current minute.
  const toMs = to ?? (Math.floor(nowMs / stepMs.minute) + 1) * stepMs.minute;
  const fromMs = from ?? Math.max(0, toMs - DEFAULT_RANGE_MS);
  if (fromMs >= toMs) throw invalidField('from', 'must be before "to"');
  if (toMs - fromMs > RANGE_MAX_MS)
    throw invalidField('from', 'is more than 400 days before "to". Request a shorter range');
  return { fromMs, toMs };
}

/** Uses coarser steps for long ranges and where finer data was deleted. @throws ApiError 422 for an invalid range */
export async function axisOf(store: Store, range: Range, nowMs: number): Promise<Axis> {
  const { fromMs, toMs } = rangeOf(range, nowMs);
  const starts = await retentionStarts(store.db);
  const finest = usageSteps.indexOf(stepOf(toMs - fromMs));
  const step = usageSteps.slice(finest).find((one) => fromMs >= starts[one] * stepMs[one]) ?? 'day';
  return axisOver(step, fromMs, toMs);
}

export const toAxisJson = ({ step, from, to }: Axis) => ({
  from: from * stepMs[step],
  to: to * stepMs[step],
  stepMs: stepMs[step],
});

const zeroTotals = { requests: 0, ok: 0, credits: 0, bytesIn: 0, bytesOut: 0, messages: 0 };
export const noTotals = (): TotalsJson => ({ ...zeroTotals });

export function addTotals(into: TotalsJson, sum: UsageSum<'status'>): void {
  into.requests += sum.requests;
  if (sum.status === 'ok') into.ok += sum.requests;
  into.credits += sum.credits;
  into.bytesIn += sum.bytes_in;
  into.bytesOut += sum.bytes_out;
  into.messages += sum.messages;
}

export const noStatuses = (axis: Axis): Record<UsageStatus, number[]> =>
  Object.fromEntries(usageStatuses.map((status) => [status, zeros(axis)])) as Record<UsageStatus, number[]>;

export function addAt(series: number[], at: number, count: number): void {
  series[at] = (series[at] ?? 0) + count;
}

async function filterOf(
  { db }: Store,
  customerId: string,
  { key, product, method }: UsageRouteQuery,
): Promise<UsageFilter> {
  if (key === undefined) return { customerId, product, method };
  if ((await findRow(db, 'api_key', { id: key, customer_id: customerId })) === undefined)
    throw notFound('key: there is no such key. See the list of keys.');
  return { customerId, keys: [key], product, method };
}

/** @throws ApiError 404 for an unknown key, 422 for an invalid range */
export const usageQueryOf = async (
  store: Store,
  customerId: string,
  query: UsageRouteQuery,
  nowMs: number,
): Promise<UsageQuery> => ({
  axis: await axisOf(store, query, nowMs),
  filter: await filterOf(store, customerId, query),
});

/** Returns the names of keys by id. If a key has no name, its id is used. */
export async function keyNames({ db }: Store, ids: readonly string[]) {
  const names = await namesOf(db, 'api_key', ids);
  return new Map([...names].map(([id, name]) => [id as string, name || (id as string)]));
}
