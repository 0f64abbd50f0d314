import { describe, expect, it } from 'vitest';
import { type Slot, slot } from '../../solana/units.ts';
import { maxPlausibleSlot, trustedSlot } from './trusted-slot.ts';

const slotOrNull = (value: number | null): Slot | null => (value === null ? null : slot(value));
const node = (polled: number | null, observed: number | null) => ({
  polled: slotOrNull(polled),
  observed: slotOrNull(observed),
});
const LIE = 9_000_000_000_000;

describe('the slot that a network is believed to be at', () => {
  it('is unknown while no node tells', () => {
    expect(trustedSlot([node(null, null)], 50)).toBeNull();
  });

  it('is what a node tells over PubSub, which is newer than its poll', () => {
    expect(trustedSlot([node(1_000, 1_003)], 50)).toBe(1_003n);
    expect(trustedSlot([node(null, 1_003)], 50)).toBe(1_003n);
    expect(trustedSlot([node(1_004, 1_003)], 50)).toBe(1_004n);
  });

  it('gives one voice to a node that lies both to polls and over PubSub', () => {
    expect(trustedSlot([node(LIE, LIE + 1), node(1_000, null), node(1_001, 1_002)], 50)).toBe(1_002n);
  });

  it('does not follow a node that contradicts its own poll', () => {
    expect(trustedSlot([node(1_000, LIE)], 50)).toBe(1_050n);
  });
});

describe('the newest slot that a connection may tell of', () => {
  const newest = (last: number | null, polled: number | null, network: number | null): Slot | null =>
    maxPlausibleSlot({ last: slotOrNull(last), polled: slotOrNull(polled), network: slotOrNull(network) });

  it('is unknown while nothing is known', () => {
    expect(newest(null, null, null)).toBeNull();
  });

  it('is a few minutes ahead of what the node said before, on whatever way', () => {
    expect(newest(1_000, null, null)).toBe(1_500n);
    expect(newest(1_000, 2_000, 2_000)).toBe(2_500n);
    expect(newest(2_000, 1_000, 2_000)).toBe(2_500n);
  });

  it('leaves a node that is ahead of nodes that stand still, and not one that is beyond all reason', () => {
    expect(newest(500_000, 500_000, 1_000)).toBe(500_500n);
    expect(newest(LIE, LIE, 1_000)).toBe(1_001_000n);
    expect(newest(null, null, 1_000)).toBe(1_001_000n);
  });
});
