import { describe, expect, it } from 'vitest';
import { type Slot, slot } from '../../solana/units.ts';
import { maxPlausibleSlot, trustedSlot } from './trusted-slot.ts';

const slotOrNull = (value: number | null): Slot | null => (value === null ? null : slot(value));
const node = (polled: number | null, observed: number | null) => ({
  polled: slotOrNull(polled),
  observed: slotOrNull(observed),
});
const LIE = 9_000_000_000_000;

describe('trustedSlot', () => {
  it('uses the PubSub slot, which is newer than the poll', () => {
    expect(trustedSlot([node(1_000, 1_003)], 50)).toBe(1_003n);
    expect(trustedSlot([node(null, 1_003)], 50)).toBe(1_003n);
    expect(trustedSlot([node(1_004, 1_003)], 50)).toBe(1_004n);
  });

  it('counts a node that reports wrong slots in polls and PubSub only once', () => {
    expect(trustedSlot([node(LIE, LIE + 1), node(1_000, null), node(1_001, 1_002)], 50)).toBe(1_002n);
  });

  it('ignores a node that contradicts its own poll', () => {
    expect(trustedSlot([node(1_000, LIE)], 50)).toBe(1_050n);
  });
});

describe('maxPlausibleSlot', () => {
  const newest = (last: number | null, polled: number | null, network: number | null): Slot | null =>
    maxPlausibleSlot({ last: slotOrNull(last), polled: slotOrNull(polled), network: slotOrNull(network) });

  it('is a few minutes ahead of the last slot of the node, from either source', () => {
    expect(newest(1_000, null, null)).toBe(1_500n);
    expect(newest(1_000, 2_000, 2_000)).toBe(2_500n);
    expect(newest(2_000, 1_000, 2_000)).toBe(2_500n);
  });

  it('allows a node ahead of a stalled network, within limits', () => {
    expect(newest(500_000, 500_000, 1_000)).toBe(500_500n);
    expect(newest(LIE, LIE, 1_000)).toBe(1_001_000n);
    expect(newest(null, null, 1_000)).toBe(1_001_000n);
  });
});
