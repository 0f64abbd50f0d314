import { AddressTable } from '../filters/address-table.ts';
import type { Watcher } from './watcher.ts';

/** A watcher in the chain of those who wait for one key. */
export type Post<Rule> = { readonly watcher: Watcher<Rule>; next: Post<Rule> | null };

/** The chain; the first has it at hand, since most keys have one watcher. */
type FirstPost<Rule> = Post<Rule> & { count: number; sweptIn: number };

/** Watchers by their keys. */
export class WatchTable<Rule> {
  readonly #firsts = new AddressTable<FirstPost<Rule>>();

  get isEmpty(): boolean {
    return this.#firsts.size === 0;
  }

  add(watcher: Watcher<Rule>): void {
    for (const key of watcher.keys) {
      const first = this.#firsts.get(key, 0);
      if (first === undefined) this.#firsts.set(key, 0, { watcher, next: null, count: 1, sweptIn: 0 });
      else {
        first.next = { watcher, next: first.next };
        first.count += 1;
      }
    }
  }

  /**
   * Removes whoever is gone from where keys lead.
   * @param run - the number of the sweep, which looks at each chain only once however many keys lead there.
   */
  sweep(keys: readonly Uint8Array[], run: number): void {
    for (const key of keys) {
      const first = this.#firsts.get(key, 0);
      if (first === undefined || first.sweptIn === run) continue;
      const left = remaining(first, run);
      if (left === null) this.#firsts.delete(key, 0);
      else this.#firsts.set(key, 0, left);
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

function remaining<Rule>(first: Post<Rule>, run: number): FirstPost<Rule> | null {
  let left: FirstPost<Rule> | null = null;
  for (let post: Post<Rule> | null = first; post !== null; post = post.next) {
    const { watcher } = post;
    if (watcher.isGone) continue;
    if (left === null) left = { watcher, next: null, count: 1, sweptIn: run };
    else {
      left.next = { watcher, next: left.next };
      left.count += 1;
    }
  }
  return left;
}
