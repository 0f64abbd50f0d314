import { beforeEach, describe, expect, it } from 'vitest';
import { slot } from '../../solana/units.ts';
import { NodeHealth } from '../health/node-health.ts';
import type { SlotFault } from '../health/node-state.ts';
import { defaultUpstreamLimits } from '../limits.ts';
import { markLag } from './lag.ts';

const limits = { ...defaultUpstreamLimits, lagMaxSlots: 100, stallMs: 10_000, slotsPerSecondMax: 25 };

let nodes: NodeHealth[];
beforeEach(() => {
  nodes = ['a', 'b', 'c'].map((name) => new NodeHealth({ name, network: 'devnet', budget: null }, limits));
});

/** Lets the nodes tell of these slots, in their order. */
function tell(now: number, ...slots: readonly number[]): (SlotFault | null)[] {
  slots.forEach((value, index) => {
    nodes[index]!.slots.recordPoll('processed', slot(value), now);
  });
  const told = nodes.slice(0, slots.length);
  markLag(told, limits, now);
  return told.map(({ slotFault }) => slotFault);
}

describe('what speaks against the slots of a node', () => {
  it('is that the others are further, until it is well within the limit again', () => {
    expect(tell(0, 1_000, 1_100)).toEqual([null, null]);
    expect(tell(1_000, 1_000, 1_101)).toEqual(['behind', null]);
    expect(tell(2_000, 1_040, 1_101)).toEqual(['behind', null]);
    expect(tell(3_000, 1_051, 1_101)).toEqual([null, null]);
    expect(nodes[0]!.lagSlots).toBe(50n);
  });

  it('is that it receives and does not replay, though nobody is further', () => {
    nodes[0]!.slots.received = slot(1_200);
    expect(tell(0, 1_000, 1_000)).toEqual(['not-replaying', null]);
    expect(tell(1_000, 1_170, 1_170)).toEqual([null, null]);
  });

  it('is that it stands still while another moves, and not while all stand still', () => {
    for (let now = 0; now <= 20_000; now += 1_000) tell(now, 1_000, 1_000);
    expect(nodes.map(({ slotFault }) => slotFault)).toEqual([null, null, null]);
    expect(tell(21_000, 1_000, 1_002)).toEqual(['standing-still', null]);
    // Whether the other one goes on then does not matter.
    for (let now = 22_000; now <= 40_000; now += 1_000) tell(now, 1_000, 1_002);
    expect(nodes.map(({ slotFault }) => slotFault)).toEqual(['standing-still', null, null]);
    expect(tell(41_000, 1_003, 1_004)).toEqual([null, null]);
  });

  it('is not that it stands still where the others are still coming to', () => {
    for (let now = 0; now <= 20_000; now += 1_000) tell(now, 1_000, 950 + now / 1_000);
    expect(nodes.map(({ slotFault }) => slotFault)).toEqual([null, null, null]);
  });

  it('is not that it was not asked', () => {
    tell(0, 1_000, 1_000);
    nodes[1]!.slots.recordPoll('processed', slot(1_050), 30_000);
    markLag(nodes.slice(0, 2), limits, 30_000);
    expect(nodes[0]!.slotFault).toBeNull();
  });

  it('is that it leaps ahead of the only other one, which goes on', () => {
    tell(0, 1_000, 1_000);
    expect(tell(1_000, 1_002, 9_000)).toEqual([null, 'ahead']);
    expect(tell(2_000, 1_004, 9_002)).toEqual([null, 'ahead']);
    expect(nodes[0]!.lagSlots).toBe(0n);
    expect(tell(3_000, 1_006, 1_006)).toEqual([null, null]);
  });

  it('is not that it leaps to where the others are, nor that it leaps ahead of one that stands still', () => {
    tell(0, 1_000, 9_000);
    expect(tell(1_000, 9_000, 9_002)).toEqual([null, null]);
    for (let now = 2_000; now <= 14_000; now += 1_000) tell(now, 9_000, 9_002 + now / 500);
    expect(tell(15_000, 9_000, 12_000)[1]).toBeNull();
  });

  it('is, of three, that it alone is ahead of the others by more than may be', () => {
    expect(tell(0, 1_000, 1_001, 9_000_000)).toEqual([null, null, 'ahead']);
    expect(tell(1_000, 1_002, 1_003, 1_004)).toEqual([null, null, null]);
  });

  it('is not learned from a node that gives no answers any more', () => {
    tell(0, 1_000, 5_000);
    expect(nodes[0]!.slotFault).toBe('behind');
    for (let i = 0; i < limits.circuitFailuresMax; i++) nodes[1]!.circuit.recordFailure(1_000);
    expect(tell(1_000, 1_001, 5_000)[0]).toBeNull();
  });
});
