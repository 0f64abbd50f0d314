import type { FilterGroup } from './filter-group.ts';

/** A watcher in the chain of those who wait for one key. */
export type ChainEntry<Rule> = { readonly watcher: Watcher<Rule>; next: ChainEntry<Rule> | null };

/**
 * One filter of a lane, in the indexes. Most wait for one key alone, and then it is its own post: what an update
 * leads to should lie in few places of memory.
 */
export class Watcher<Rule> implements ChainEntry<Rule> {
  readonly rule: Rule;
  readonly group: FilterGroup;
  readonly watcher = this;
  next: ChainEntry<Rule> | null = null;
  /** Posts in the chain that it begins. */
  count = 1;
  /** The last sweep that looked at that chain. */
  sweptBy = 0;
  readonly ordinal: number;
  ownNames: Uint8Array | null = null;
  /** The run of matching that has looked at it. */
  matchedIn = 0;
  /** 32 bytes each: where it is in the indexes. */
  keys: readonly Uint8Array[] = [];
  /** What stands for its owner in the index, where it asks for one alone: to compare it is to compare the owner. */
  ownerShapes: object | null = null;
  /** Whether it is in one chain only, and its own post there. */
  isOwnEntry = false;
  /** Whether one of its keys is all that it asks for. */
  isCertain = false;
  isRemoved = false;

  constructor(rule: Rule, group: FilterGroup, ordinal: number) {
    this.rule = rule;
    this.group = group;
    this.ordinal = ordinal;
  }
}
