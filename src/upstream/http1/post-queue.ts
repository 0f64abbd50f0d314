import type { Post } from './post.ts';

/** Requests in the order in which they were put. The links are in the requests themselves, which stand in one at a time. */
export class PostQueue {
  first: Post | null = null;
  #last: Post | null = null;
  length = 0;

  push(post: Post): void {
    post.before = this.#last;
    if (this.#last === null) this.first = post;
    else this.#last.behind = post;
    this.#last = post;
    this.length++;
  }

  /** Takes the oldest out. */
  shift(): Post | null {
    const { first } = this;
    if (first !== null) this.remove(first);
    return first;
  }

  remove(post: Post): void {
    const { before, behind } = post;
    if (before === null) this.first = behind;
    else before.behind = behind;
    if (behind === null) this.#last = before;
    else behind.before = before;
    post.before = null;
    post.behind = null;
    this.length--;
  }
}
