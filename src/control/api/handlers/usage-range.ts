import type { Store } from '../../database/open.ts';
import { type UsageStep, usageSteps } from '../../database/tables/usage.ts';
import { type Axis, axisOver, stepMs } from '../../usage/queries/axis.ts';
import { retentionStarts } from '../../usage/queries/segments.ts';
import { ApiError } from '../api-error.ts';

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
