import type { DataSlice } from '../../../protocol/geyser/subscribe-request.ts';
import { slicesKey } from '../filters/data-slices.ts';
import type { GeyserSink } from '../geyser-sink.ts';

/** Whom messages go to, for as long as what it wants stays the same. */
export class Listener {
  readonly sink: GeyserSink;
  /** Parts of accounts' data that it wants; null: all of it. */
  readonly slices: readonly DataSlice[] | null;
  /** Equal for equal slices. */
  readonly slicesKey: string;
  isRemoved = false;

  constructor(sink: GeyserSink, slices: readonly DataSlice[] | null) {
    this.sink = sink;
    this.slices = slices;
    this.slicesKey = slicesKey(slices);
  }
}
