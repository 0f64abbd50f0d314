import type { Lane } from './lane.ts';

/** A watcher in the chain of those who wait for one key. */
export type Post<Rule> = { readonly watcher: Watcher<Rule>; next: Post<Rule> | null };

/**
 * One filter of a lane, in the indexes. Most wait for one key alone, and then it is its own post: what an update
 * leads to should lie in few places of memory.
 */
export class Watcher<Rule> implements Post<Rule> {
  readonly rule: Rule;
  readonly lane: Lane;
  readonly watcher = this;
  next: Post<Rule> | null = null;
  /** Posts in the chain that it begins. */
  count = 1;
  /** The last sweep that looked at that chain. */
  sweptIn = 0;
  readonly ordinal: number;
  ownNames: Uint8Array | null = null;
  /** The run of matching that has looked at it. */
  seenIn = 0;
  /** 32 bytes each: where it is in the indexes. */
  keys: readonly Uint8Array[] = [];
  /** What stands for its owner in the index, where it asks for one alone: to compare it is to compare the owner. */
  place: object | null = null;
  /** Whether it is in one chain only, and its own post there. */
  isOwnPost = false;
  /** Whether one of its keys is all that it asks for. */
  isCertain = false;
  isGone = false;

  constructor(rule: Rule, lane: Lane, ordinal: number) {
    this.rule = rule;
    this.lane = lane;
    this.ordinal = ordinal;
  }
}
