import { describe, expect, it } from 'vitest';
import { slot } from '../../../solana/units.ts';
import { SeenSlots } from './seen-slots.ts';

describe('what is remembered of messages that were told', () => {
  it('is all of it up to a number', () => {
    const seen = new SeenSlots(2);
    seen.add('a', slot(10));
    seen.add('b', slot(11));
    expect(['a', 'b', 'c'].map((name) => seen.get(name))).toEqual([10n, 11n, undefined]);
    expect(seen.evictedUpTo).toBe(-1n);
  });

  it('loses the oldest beyond it, and how far back that was is known', () => {
    const seen = new SeenSlots(2);
    for (const [name, at] of [
      ['a', 12],
      ['b', 10],
      ['c', 13],
      ['d', 14],
    ] as const)
      seen.add(name, slot(at));
    expect(['a', 'b', 'c', 'd'].map((name) => seen.has(name))).toEqual([false, false, true, true]);
    expect(seen.evictedUpTo).toBe(12n);
  });

  it('keeps what was told again as the newest', () => {
    const seen = new SeenSlots(2);
    for (const [name, at] of [
      ['a', 10],
      ['b', 11],
      ['a', 12],
      ['c', 13],
    ] as const)
      seen.add(name, slot(at));
    expect(['a', 'b', 'c'].map((name) => seen.get(name))).toEqual([12n, undefined, 13n]);
    expect(seen.evictedUpTo).toBe(11n);
  });
});
