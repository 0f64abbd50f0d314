import { AddressTable } from '../filters/address-table.ts';
import type { ChainEntry, Watcher } from './watcher.ts';
import { type ChainHead, chainHead, insert, sweepChain } from './watcher-chain.ts';

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
