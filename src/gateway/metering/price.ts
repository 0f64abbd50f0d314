import type { PlanLimits } from '../auth/key-record.ts';

/** Bytes of messages for which a plan's `streamCredits` are charged. */
export const STREAM_UNIT_BYTES = 100_000;

/**
 * What a call costs under a plan.
 * @param method - as it was asked, which may be any text.
 * @param cost - credits by the table of what was asked.
 */
export function priceOf({ prices }: Pick<PlanLimits, 'prices'>, method: string, cost: number): number {
  return Object.hasOwn(prices, method) ? (prices[method] as number) : cost;
}
