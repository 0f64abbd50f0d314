import { AddressTable } from '../filters/address-table.ts';
import { type FirstPost, firstPost, join, swept } from './post-chain.ts';
import type { Post, Watcher } from './watcher.ts';

/** Watchers by their keys. */
export class WatchTable<Rule> {
  readonly #firsts = new AddressTable<FirstPost<Rule>>();

  get isEmpty(): boolean {
    return this.#firsts.size === 0;
  }

  add(watcher: Watcher<Rule>): void {
    for (const key of watcher.keys) {
      const first = this.#firsts.get(key, 0);
      if (first === undefined) this.#firsts.set(key, 0, firstPost(watcher));
      else join(first, watcher);
    }
  }

  /**
   * Removes whoever is gone from where keys lead.
   * @param run - the number of the sweep, which looks at each chain only once however many keys lead there.
   */
  sweep(keys: readonly Uint8Array[], run: number): void {
    for (const key of keys) {
      const first = this.#firsts.get(key, 0);
      if (first === undefined) continue;
      const left = swept(first, run);
      if (left === null) this.#firsts.delete(key, 0);
      else if (left !== first) this.#firsts.set(key, 0, left);
    }
  }

  /** Who waits for the key that is the 32 bytes from `at` on, as the first of a chain; null: nobody. */
  first(bytes: Uint8Array, at: number): Post<Rule> | null {
    return this.#firsts.get(bytes, at) ?? null;
  }

  /** How many wait for a key. */
  count(key: Uint8Array): number {
    return this.#firsts.get(key, 0)?.count ?? 0;
  }
}
