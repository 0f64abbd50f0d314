import { AddressTable } from '../filters/address-table.ts';
import type { Post, Watcher } from './watcher.ts';

/** The first of a chain knows about it. */
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
      if (first === undefined) this.#firsts.set(key, 0, firstPost(watcher));
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

const firstPost = <Rule>(watcher: Watcher<Rule>): FirstPost<Rule> =>
  watcher.isOwnPost ? watcher : { watcher, next: null, count: 1, sweptIn: 0 };

/** A chain without those who are gone. */
function remaining<Rule>(first: Post<Rule>, run: number): FirstPost<Rule> | null {
  let left: FirstPost<Rule> | null = null;
  let post: Post<Rule> | null = first;
  while (post !== null) {
    const { watcher, next }: Post<Rule> = post;
    post.next = null;
    if (!watcher.isGone && left === null) {
      left = firstPost(watcher);
      left.count = 1;
    } else if (!watcher.isGone && left !== null) {
      left.next = { watcher, next: left.next };
      left.count += 1;
    }
    post = next;
  }
  if (left !== null) left.sweptIn = run;
  return left;
}
