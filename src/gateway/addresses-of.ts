import type { Subscription } from '../protocol/subscriptions.ts';

/** How many addresses a subscription holds in memory, at least 1: the lists of `transaction` have no small end. */
export function addressesOf(subscription: Subscription): number {
  if (subscription.kind !== 'transaction') return 1;
  const { include, exclude, required } = subscription.filter;
  return Math.max(1, include.length + exclude.length + required.length);
}
