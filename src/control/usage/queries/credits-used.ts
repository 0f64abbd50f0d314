import type { Store } from '../../database/open.ts';
import { axisOver, monthOf, zeros } from './axis.ts';
import { sumsOf, type UsageFilter } from './read-usage.ts';

/**
 * Credits of each day of a calendar month (UTC), up to a moment; the last one is the day that runs.
 * @param atMs - a moment of the month, Unix milliseconds.
 */
export async function creditsByDay(store: Store, filter: UsageFilter, atMs: number): Promise<number[]> {
  const axis = axisOver('day', monthOf(atMs).from, atMs + 1);
  const days = zeros(axis);
  for await (const rows of sumsOf(store, axis, filter, [])) {
    for (const { at, credits } of rows) days[at] = (days[at] ?? 0) + credits;
  }
  return days;
}

/**
 * Credits that a customer's keys used under a plan in a calendar month (UTC), as far as the store knows: all gateways
 * together, to within a flush.
 * @param atMs - a moment of the month, Unix milliseconds.
 */
export async function creditsUsed(
  store: Store,
  customerId: string,
  planId: string,
  atMs: number,
): Promise<number> {
  const days = await creditsByDay(store, { customerId, planId }, atMs);
  return days.reduce((sum, day) => sum + day, 0);
}
