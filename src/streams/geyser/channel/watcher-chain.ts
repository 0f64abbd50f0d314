import type { ChainEntry, Watcher } from './watcher.ts';

/** The first of a chain knows about it. */
export type ChainHead<Rule> = ChainEntry<Rule> & { count: number; sweptBy: number };

/** A chain of one. */
export const chainHead = <Rule>(watcher: Watcher<Rule>): ChainHead<Rule> =>
  watcher.isOwnEntry ? watcher : { watcher, next: null, count: 1, sweptBy: 0 };

/** Puts one more into a chain, which keeps its first. */
export function insert<Rule>(first: ChainHead<Rule>, watcher: Watcher<Rule>): void {
  first.next = { watcher, next: first.next };
  first.count += 1;
}

/**
 * A chain without those who are gone; null: nobody is left.
 * @param run - the number of the sweep, which looks at each chain only once.
 */
export function sweepChain<Rule>(first: ChainHead<Rule>, sweepId: number): ChainHead<Rule> | null {
  if (first.sweptBy === sweepId) return first;
  let remaining: ChainHead<Rule> | null = null;
  let entry: ChainEntry<Rule> | null = first;
  while (entry !== null) {
    const { watcher, next }: ChainEntry<Rule> = entry;
    entry.next = null;
    if (!watcher.isRemoved && remaining === null) {
      remaining = chainHead(watcher);
      remaining.count = 1;
    } else if (!watcher.isRemoved && remaining !== null) insert(remaining, watcher);
    entry = next;
  }
  if (remaining !== null) remaining.sweptBy = sweepId;
  return remaining;
}
