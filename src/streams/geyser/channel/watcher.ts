import type { Lane } from './lane.ts';

/** One filter of a lane, in the indexes. */
export class Watcher<Rule> {
  readonly rule: Rule;
  readonly lane: Lane;
  readonly ordinal: number;
  /** 32 bytes each: where it is in the indexes. */
  keys: readonly Uint8Array[] = [];
  /** The run of matching that has looked at it. */
  seenIn = 0;
  isGone = false;

  constructor(rule: Rule, lane: Lane, ordinal: number) {
    this.rule = rule;
    this.lane = lane;
    this.ordinal = ordinal;
  }
}
