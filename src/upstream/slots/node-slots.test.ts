import { describe, expect, it } from 'vitest';
import { slot } from '../../solana/units.ts';
import { NodeSlots } from './node-slots.ts';

const fresh = (): NodeSlots => new NodeSlots({ lagMaxSlots: 100, slotsPerSecondMax: 25 });

describe('NodeSlots', () => {
  it('keeps the newest observed slot and any polled slot', () => {
    const slots = fresh();
    slots.observe('processed', slot(50), 0);
    slots.observe('processed', slot(48), 1);
    expect(slots.processed).toBe(50n);
    slots.recordPoll('processed', slot(40), 2);
    expect(slots.processed).toBe(40n);
  });

  it('applies a slot to weaker commitments, limited by the processed slot', () => {
    const slots = fresh();
    slots.observe('confirmed', slot(50), 0);
    expect(slots.processed).toBe(50n);
    slots.recordPoll('processed', slot(30), 1);
    expect(slots.confirmed).toBeNull();
  });

  it('estimates commitments that were not polled', () => {
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

  it('detects a jump faster than any chain, whatever the time since the last poll', () => {
    const slots = fresh();
    slots.recordPoll('processed', slot(1_000), 0);
    slots.recordPoll('processed', slot(1_100), 1_000);
    expect(slots.isSuspect).toBe(false);
    slots.recordPoll('processed', slot(4_000), 120_000);
    expect(slots.isSuspect).toBe(false);
    slots.recordPoll('processed', slot(4_200), 121_000);
    expect(slots.isSuspect).toBe(true);
  });

  it('ignores a jump in a response; only a poll can report one', () => {
    const slots = fresh();
    slots.recordPoll('processed', slot(1_000), 0);
    slots.observe('finalized', slot(9_000), 1_000);
    expect([slots.processed, slots.finalized, slots.isSuspect]).toEqual([1_000n, null, false]);
  });

  it('reports received but unreplayed slots', () => {
    const slots = fresh();
    expect(slots.unreplayed).toBeNull();
    slots.recordPoll('processed', slot(1_000), 0);
    slots.received = slot(1_150);
    expect(slots.unreplayed).toBe(150n);
    slots.received = slot(900);
    expect(slots.unreplayed).toBe(0n);
  });
});
