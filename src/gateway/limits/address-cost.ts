import type { Subscription } from '../../protocol/subscriptions.ts';

/** So many addresses cost the rate limit another call. */
const ADDRESSES_PER_CALL = 1_000;

/** Calls that addresses cost besides the one that names them. */
export const callsForAddresses = (addresses: number): number => Math.floor(addresses / ADDRESSES_PER_CALL);

/** How many addresses a subscription holds in memory, at least 1: the lists of `transaction` have no small end. */
export function countAddresses(subscription: Subscription): number {
  if (subscription.kind !== 'transaction') return 1;
  const { include, exclude, required } = subscription.filter;
  return Math.max(1, include.length + exclude.length + required.length);
}
