import { type Slot, slot } from '../../../../src/solana/units.ts';

/** Source: agave rpc, `SAMPLE_INTERVAL`. */
export const SAMPLE_SECONDS = 60;
/** Half a day. Source: agave, `PERFORMANCE_SAMPLES_LIMIT`. */
const SAMPLES_MAX = 720;

/** Sample of one minute; `slot` is its last slot. */
export type PerformanceSample = Readonly<{
  slot: Slot;
  slots: bigint;
  transactions: bigint;
  /** Transactions other than votes. */
  nonVotes: bigint;
}>;

export type Minute = Readonly<{ slot: number; slots: number; transactions: number; nonVotes: number }>;

/** Source of block times. Slots have no gaps, and times do not decrease. */
interface BlockTimes {
  readonly newestSlot: number;
  readonly oldestSlot: number;
  /** Unix seconds. */
  blockTime(slot: number): number | null;
  /** Oldest first. */
  minutesAfter(slot: number): readonly Minute[];
}

/** Computes performance samples from blocks on request; counts each minute only once. */
export class PerformanceSamples {
  readonly #blocks: BlockTimes;
  #counted: PerformanceSample[] = [];
  /** Minute that was unfinished at the last count. */
  #minute = -1;

  constructor(blocks: BlockTimes) {
    this.#blocks = blocks;
  }

  /** Newest first. */
  newest(limit: number): PerformanceSample[] {
    this.#count();
    return this.#counted.slice(Math.max(0, this.#counted.length - limit)).reverse();
  }

  #count(): void {
    const { newestSlot } = this.#blocks;
    const minute = this.#minuteOf(newestSlot);
    if (minute === this.#minute) return;
    this.#minute = minute;
    const last = this.#counted.at(-1);
    const after = last === undefined ? this.#slotBefore(minute - SAMPLES_MAX) : Number(last.slot);
    // The last minute is unfinished.
    for (const counted of this.#blocks.minutesAfter(after).slice(0, -1)) {
      this.#counted.push({
        slot: slot(counted.slot),
        slots: BigInt(counted.slots),
        transactions: BigInt(counted.transactions),
        nonVotes: BigInt(counted.nonVotes),
      });
    }
    this.#counted = this.#counted.slice(-SAMPLES_MAX);
  }

  #minuteOf(at: number): number {
    return Math.floor((this.#blocks.blockTime(at) ?? 0) / SAMPLE_SECONDS);
  }

  #slotBefore(minute: number): number {
    let [low, high] = [this.#blocks.oldestSlot, this.#blocks.newestSlot + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#minuteOf(middle) < minute) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
