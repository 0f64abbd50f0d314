import { describe, expect, it } from 'vitest';
import { type Minute, PerformanceSamples } from './performance-samples.ts';

/** Blocks of some seconds with as many transactions as their slot number. */
class Blocks {
  readonly times: number[] = [];
  counted = 0;
  oldestSlot = 0;

  get newestSlot(): number {
    return this.times.length - 1;
  }

  add(...times: number[]): this {
    this.times.push(...times);
    return this;
  }

  blockTime(slot: number): number | null {
    return this.times[slot] ?? null;
  }

  minutesAfter(after: number): Minute[] {
    this.counted++;
    const minutes = new Map<number, Minute>();
    for (const [slot, time] of this.times.entries()) {
      if (slot <= after) continue;
      const minute = Math.floor(time / 60);
      const { slots, transactions } = minutes.get(minute) ?? { slots: 0, transactions: 0 };
      const counted = { slot, slots: slots + 1, transactions: transactions + slot };
      minutes.set(minute, { ...counted, nonVotes: counted.transactions - counted.slots });
    }
    return [...minutes.values()];
  }
}

describe('performance samples', () => {
  it('cover finished minutes, newest first', () => {
    const samples = new PerformanceSamples(new Blocks().add(600, 630, 659, 660, 700, 725));
    expect(samples.newest(720)).toEqual([
      { slot: 4n, slots: 2n, transactions: 7n, nonVotes: 5n },
      { slot: 2n, slots: 3n, transactions: 3n, nonVotes: 0n },
    ]);
    expect(samples.newest(1)).toEqual([{ slot: 4n, slots: 2n, transactions: 7n, nonVotes: 5n }]);
    expect(samples.newest(0)).toEqual([]);
  });

  it('count each minute once and omit minutes without blocks', () => {
    const blocks = new Blocks().add(600, 660);
    const samples = new PerformanceSamples(blocks);
    expect(samples.newest(720)).toHaveLength(1);
    blocks.add(661);
    expect(samples.newest(720)).toHaveLength(1);
    expect(blocks.counted).toBe(1);
    blocks.add(6000);
    expect(samples.newest(720).map(({ slot }) => slot)).toEqual([2n, 0n]);
    expect(blocks.counted).toBe(2);
  });

  it('go back half a day', () => {
    const blocks = new Blocks().add(...Array.from({ length: 1000 }, (_, minute) => minute * 60));
    const samples = new PerformanceSamples(blocks).newest(720);
    expect(samples).toHaveLength(720);
    expect(samples.at(0)?.slot).toBe(998n);
  });
});
