import { describe, expect, it } from 'vitest';
import { slot } from '../../ledger/units.ts';
import { NodeSlots } from './node-slots.ts';

const fresh = (): NodeSlots => new NodeSlots({ lagMaxSlots: 100, slotsPerSecondMax: 25 });

describe('what a node told of its slots', () => {
  it('is the newest of its answers, and whatever it says when it is asked', () => {
    const slots = fresh();
    slots.told('processed', slot(50), 0);
    slots.told('processed', slot(48), 1);
    expect(slots.processed).toBe(50n);
    slots.polled('processed', slot(40), 2);
    expect(slots.processed).toBe(40n);
  });

  it('holds for what comes before it: confirmed was processed, and none is beyond where it is', () => {
    const slots = fresh();
    slots.told('confirmed', slot(50), 0);
    expect(slots.processed).toBe(50n);
    slots.polled('processed', slot(30), 1);
    expect(slots.confirmed).toBeNull();
  });

  it('is guessed for a commitment that it was not asked for', () => {
    const slots = fresh();
    expect(slots.hasReached('finalized', 5n)).toBe(true);
    slots.polled('processed', slot(100), 0);
    expect(slots.hasReached('processed', 100n)).toBe(true);
    expect(slots.hasReached('confirmed', 99n)).toBe(false);
    expect(slots.hasReached('finalized', 68n)).toBe(true);
    expect(slots.hasReached('finalized', 69n)).toBe(false);
    slots.told('finalized', slot(60), 1);
    expect(slots.hasReached('finalized', 61n)).toBe(false);
  });

  it('is a leap when no chain goes so fast, however long ago it was asked', () => {
    const slots = fresh();
    slots.polled('processed', slot(1_000), 0);
    slots.polled('processed', slot(1_100), 1_000);
    expect(slots.leapt).toBe(false);
    slots.polled('processed', slot(4_000), 120_000);
    expect(slots.leapt).toBe(false);
    slots.polled('processed', slot(4_200), 121_000);
    expect(slots.leapt).toBe(true);
  });

  it('is no leap of an answer: whether it leapt a poll says', () => {
    const slots = fresh();
    slots.polled('processed', slot(1_000), 0);
    slots.told('finalized', slot(9_000), 1_000);
    expect([slots.processed, slots.finalized, slots.leapt]).toEqual([1_000n, null, false]);
  });

  it('tells how much it has received and not replayed', () => {
    const slots = fresh();
    expect(slots.unreplayed).toBeNull();
    slots.polled('processed', slot(1_000), 0);
    slots.received = slot(1_150);
    expect(slots.unreplayed).toBe(150n);
    slots.received = slot(900);
    expect(slots.unreplayed).toBe(0n);
  });
});
