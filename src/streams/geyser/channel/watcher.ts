import type { Lane } from './lane.ts';

/** One filter of a lane, in the indexes. */
export class Watcher<Rule> {
  readonly rule: Rule;
  readonly lane: Lane;
  readonly ordinal: number;
  ownNames: Uint8Array | null = null;
  /** The run of matching that has looked at it. */
  seenIn = 0;
  /** 32 bytes each: where it is in the indexes. */
  keys: readonly Uint8Array[] = [];
  isGone = false;

  constructor(rule: Rule, lane: Lane, ordinal: number) {
    this.rule = rule;
    this.lane = lane;
    this.ordinal = ordinal;
  }
}
