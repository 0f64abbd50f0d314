import { describe, expect, it } from 'vitest';
import { slot } from '../../solana/units.ts';
import { NodeSlots } from './node-slots.ts';

const fresh = (): NodeSlots => new NodeSlots({ lagMaxSlots: 100, slotsPerSecondMax: 25 });

describe('what a node told of its slots', () => {
  it('is the newest of its answers, and whatever it says when it is asked', () => {
    const slots = fresh();
    slots.observe('processed', slot(50), 0);
    slots.observe('processed', slot(48), 1);
    expect(slots.processed).toBe(50n);
    slots.recordPoll('processed', slot(40), 2);
    expect(slots.processed).toBe(40n);
  });

  it('holds for what comes before it: confirmed was processed, and none is beyond where it is', () => {
    const slots = fresh();
    slots.observe('confirmed', slot(50), 0);
    expect(slots.processed).toBe(50n);
    slots.recordPoll('processed', slot(30), 1);
    expect(slots.confirmed).toBeNull();
  });

  it('is guessed for a commitment that it was not asked for', () => {
    const slots = fresh();
    expect(slots.isAtLeast('finalized', 5n)).toBe(true);
    slots.recordPoll('processed', slot(100), 0);
    expect(slots.isAtLeast('processed', 100n)).toBe(true);
    expect(slots.isAtLeast('confirmed', 99n)).toBe(false);
    expect(slots.isAtLeast('finalized', 68n)).toBe(true);
    expect(slots.isAtLeast('finalized', 69n)).toBe(false);
    slots.observe('finalized', slot(60), 1);
    expect(slots.isAtLeast('finalized', 61n)).toBe(false);
  });

  it('is a leap when no chain goes so fast, however long ago it was asked', () => {
    const slots = fresh();
    slots.recordPoll('processed', slot(1_000), 0);
    slots.recordPoll('processed', slot(1_100), 1_000);
    expect(slots.isSuspect).toBe(false);
    slots.recordPoll('processed', slot(4_000), 120_000);
    expect(slots.isSuspect).toBe(false);
    slots.recordPoll('processed', slot(4_200), 121_000);
    expect(slots.isSuspect).toBe(true);
  });

  it('is no leap of an answer: whether it leapt a poll says', () => {
    const slots = fresh();
    slots.recordPoll('processed', slot(1_000), 0);
    slots.observe('finalized', slot(9_000), 1_000);
    expect([slots.processed, slots.finalized, slots.isSuspect]).toEqual([1_000n, null, false]);
  });

  it('tells how much it has received and not replayed', () => {
    const slots = fresh();
    expect(slots.unreplayed).toBeNull();
    slots.recordPoll('processed', slot(1_000), 0);
    slots.received = slot(1_150);
    expect(slots.unreplayed).toBe(150n);
    slots.received = slot(900);
    expect(slots.unreplayed).toBe(0n);
  });
});
