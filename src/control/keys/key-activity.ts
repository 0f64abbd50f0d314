import type { Store } from '../database/open.ts';
import { axisOver, monthOf } from '../usage/queries/axis.ts';
import { sumsOf, wholeSumsOf } from '../usage/queries/read-usage.ts';

/** What a key did lately. */
export type KeyActivity = Readonly<{
  /** Credits of this calendar month (UTC). */
  creditsUsed: number;
  /** Requests of each of the last 24 hours, the oldest first; the last one is the hour that runs. */
  requests24h: number[];
  /** How many of them had no result. */
  errors24h: number;
}>;

const HOUR_MS = 3_600_000;
const HOURS = 24;

const idle = () => ({ creditsUsed: 0, requests24h: Array<number>(HOURS).fill(0), errors24h: 0 });

/**
 * What keys did lately, to within a flush.
 * @param keyIds - those of a page; nothing is read for others.
 * @param now - Unix milliseconds.
 */
export async function activityOf(
  store: Store,
  keyIds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, KeyActivity>> {
  const activity = new Map(keyIds.map((id) => [id, idle()]));
  if (keyIds.length === 0) return activity;
  const filter = { customerId: '', keys: keyIds };
  const hours = axisOver('hour', (Math.floor(now / HOUR_MS) - HOURS + 1) * HOUR_MS, now + 1);
  for await (const rows of sumsOf(store, hours, filter, ['key_id', 'status'])) {
    for (const { key_id, at, status, requests } of rows) {
      const one = activity.get(key_id)!;
      one.requests24h[at] = (one.requests24h[at] ?? 0) + requests;
      if (status !== 'ok') one.errors24h += requests;
    }
  }
  const month = axisOver('day', monthOf(now).from, now + 1);
  for await (const rows of wholeSumsOf(store, month, filter, ['key_id'])) {
    for (const { key_id, credits } of rows) activity.get(key_id)!.creditsUsed += credits;
  }
  return activity;
}
