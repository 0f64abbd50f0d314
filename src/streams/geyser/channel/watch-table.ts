import { AddressTable } from '../filters/address-table.ts';
import type { ChainEntry, Watcher } from './filter-group.ts';

/** First entry of a chain. It also holds the chain's length and last sweep. */
export type ChainHead<Rule> = ChainEntry<Rule> & { count: number; sweptBy: number };

export const chainHead = <Rule>(watcher: Watcher<Rule>): ChainHead<Rule> =>
  watcher.isOwnEntry ? watcher : { watcher, next: null, count: 1, sweptBy: 0 };

export function insert<Rule>(first: ChainHead<Rule>, watcher: Watcher<Rule>): void {
  first.next = { watcher, next: first.next };
  first.count += 1;
}

/** Deletes removed watchers from a chain. A sweep visits each chain once. @returns null if the chain is now empty. */
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

  /** Deletes removed watchers from the chains of the keys. Several watchers in one sweep may share a key. */
  sweep(keys: readonly Uint8Array[], sweepId: number): void {
    for (const key of keys) {
      const first = this.#heads.get(key, 0);
      if (first === undefined) continue;
      const remaining = sweepChain(first, sweepId);
      if (remaining === null) this.#heads.delete(key, 0);
      else if (remaining !== first) this.#heads.set(key, 0, remaining);
    }
  }

  /** @returns the chain of the 32-byte key at offset `at`; null if there is none. */
  first(bytes: Uint8Array, at: number): ChainEntry<Rule> | null {
    return this.#heads.get(bytes, at) ?? null;
  }

  count(key: Uint8Array): number {
    return this.#heads.get(key, 0)?.count ?? 0;
  }
}
