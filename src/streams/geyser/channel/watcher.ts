import type { Lane } from './lane.ts';

/** One filter of a lane, in the indexes. */
export class Watcher<Test> {
  readonly test: Test;
  readonly lane: Lane;
  readonly ordinal: number;
  /** 32 bytes each: where it is in the indexes. */
  keys: readonly Uint8Array[] = [];
  /** The run of matching that has looked at it. */
  seenIn = 0;
  isGone = false;

  constructor(test: Test, lane: Lane, ordinal: number) {
    this.test = test;
    this.lane = lane;
    this.ordinal = ordinal;
  }
}
