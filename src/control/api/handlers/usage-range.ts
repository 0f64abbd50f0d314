import { type UsageStatus, usageStatuses } from '../../../gateway/metering/usage-meter.ts';
import type { Store } from '../../database/open.ts';
import { type UsageStep, usageSteps } from '../../database/tables/usage.ts';
import {
  type Axis,
  axisOver,
  retentionStarts,
  stepMs,
  type UsageFilter,
  type UsageSum,
  zeros,
} from '../../usage/read-usage.ts';
import { ApiError } from '../api-error.ts';
import type { TotalsJson } from '../contract/usage.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Longest stretches that are shown in minutes, in hours, and at all. */
const MINUTES_MAX_MS = 6 * HOUR_MS;
const HOURS_MAX_MS = 14 * DAY_MS;
const RANGE_MAX_MS = 400 * DAY_MS;
/** What is shown when nothing is asked for. */
const RANGE_MS = HOUR_MS;
/** The last moment that JavaScript's dates know. */
const TIME_MAX_MS = 8_640_000_000_000_000;

type Range = Readonly<{ from?: number | undefined; to?: number | undefined }>;

const refuse = (field: 'from' | 'to', message: string): ApiError =>
  new ApiError(422, 'INVALID_FIELDS', `${field}: ${message}`, { fields: { [field]: message } });

function stepOf(lengthMs: number): UsageStep {
  if (lengthMs <= MINUTES_MAX_MS) return 'minute';
  return lengthMs <= HOURS_MAX_MS ? 'hour' : 'day';
}

/** The stretch that is asked for, in Unix milliseconds. @throws ApiError 422 */
function rangeOf({ from, to }: Range, nowMs: number): Readonly<{ fromMs: number; toMs: number }> {
  // Its last minute is the one that runs.
  const toMs = to ?? (Math.floor(nowMs / stepMs.minute) + 1) * stepMs.minute;
  const fromMs = from ?? Math.max(0, toMs - RANGE_MS);
  if (toMs > TIME_MAX_MS) throw refuse('to', 'is no time: give Unix milliseconds');
  if (fromMs >= toMs) throw refuse('from', 'must be before "to"');
  if (toMs - fromMs > RANGE_MAX_MS)
    throw refuse('from', 'is more than 400 days before "to": ask for less at a time');
  return { fromMs, toMs };
}

/**
 * The steps in which a stretch is shown: as its length asks for, or coarser where the finer ones are deleted already.
 * @throws ApiError 422
 */
export async function axisOf(store: Store, range: Range, nowMs: number): Promise<Axis> {
  const { fromMs, toMs } = rangeOf(range, nowMs);
  const starts = await retentionStarts(store.db);
  const finest = usageSteps.indexOf(stepOf(toMs - fromMs));
  const step = usageSteps.slice(finest).find((one) => fromMs >= starts[one] * stepMs[one]) ?? 'day';
  return axisOver(step, fromMs, toMs);
}

/** The axis as the contract has it. */
export const toAxisJson = ({ step, from, to }: Axis) => ({
  from: from * stepMs[step],
  to: to * stepMs[step],
  stepMs: stepMs[step],
});

/** What is asked for in the query of the routes of usage. */
type UsageQuery = Readonly<{
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
