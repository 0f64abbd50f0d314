import type { Post, Watcher } from './watcher.ts';

/** The first of a chain knows about it. */
export type FirstPost<Rule> = Post<Rule> & { count: number; sweptIn: number };

/** A chain of one. */
export const firstPost = <Rule>(watcher: Watcher<Rule>): FirstPost<Rule> =>
  watcher.isOwnPost ? watcher : { watcher, next: null, count: 1, sweptIn: 0 };

/** Puts one more into a chain, which keeps its first. */
export function join<Rule>(first: FirstPost<Rule>, watcher: Watcher<Rule>): void {
  first.next = { watcher, next: first.next };
  first.count += 1;
}

/**
 * A chain without those who are gone; null: nobody is left.
 * @param run - the number of the sweep, which looks at each chain only once.
 */
export function swept<Rule>(first: FirstPost<Rule>, run: number): FirstPost<Rule> | null {
  if (first.sweptIn === run) return first;
  let left: FirstPost<Rule> | null = null;
  let post: Post<Rule> | null = first;
  while (post !== null) {
    const { watcher, next }: Post<Rule> = post;
    post.next = null;
    if (!watcher.isGone && left === null) {
      left = firstPost(watcher);
      left.count = 1;
    } else if (!watcher.isGone && left !== null) join(left, watcher);
    post = next;
  }
  if (left !== null) left.sweptIn = run;
  return left;
}
