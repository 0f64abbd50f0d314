import { AddressTable } from '../filters/address-table.ts';
import type { ChainEntry, Watcher } from './filter-group.ts';

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

/** Watchers by their keys. */
export class WatchTable<Rule> {
  readonly #heads = new AddressTable<ChainHead<Rule>>();

  get isEmpty(): boolean {
    return this.#heads.size === 0;
  }

  add(watcher: Watcher<Rule>): void {
    for (const key of watcher.keys) {
      const first = this.#heads.get(key, 0);
      if (first === undefined) this.#heads.set(key, 0, chainHead(watcher));
      else insert(first, watcher);
    }
  }

  /**
   * Removes whoever is gone from where keys lead.
   * @param run - the number of the sweep, which looks at each chain only once however many keys lead there.
   */
  sweep(keys: readonly Uint8Array[], sweepId: number): void {
    for (const key of keys) {
      const first = this.#heads.get(key, 0);
      if (first === undefined) continue;
      const remaining = sweepChain(first, sweepId);
      if (remaining === null) this.#heads.delete(key, 0);
      else if (remaining !== first) this.#heads.set(key, 0, remaining);
    }
  }

  /** Who waits for the key that is the 32 bytes from `at` on, as the first of a chain; null: nobody. */
  first(bytes: Uint8Array, at: number): ChainEntry<Rule> | null {
    return this.#heads.get(bytes, at) ?? null;
  }

  /** How many wait for a key. */
  count(key: Uint8Array): number {
    return this.#heads.get(key, 0)?.count ?? 0;
  }
}
