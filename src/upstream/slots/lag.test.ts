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

/** Reports these slots, one per node. */
function report(now: number, ...slots: readonly number[]): (SlotFault | null)[] {
  slots.forEach((value, index) => {
    nodes[index]!.slots.recordPoll('processed', slot(value), now);
  });
  const reported = nodes.slice(0, slots.length);
  markLag(reported, limits, now);
  return reported.map(({ slotFault }) => slotFault);
}

describe('markLag', () => {
  it('marks a node behind others until it is well within the limit', () => {
    expect(report(0, 1_000, 1_100)).toEqual([null, null]);
    expect(report(1_000, 1_000, 1_101)).toEqual(['behind', null]);
    expect(report(2_000, 1_040, 1_101)).toEqual(['behind', null]);
    expect(report(3_000, 1_051, 1_101)).toEqual([null, null]);
    expect(nodes[0]!.lagSlots).toBe(50n);
  });

  it('marks a node that receives but does not replay', () => {
    nodes[0]!.slots.received = slot(1_200);
    expect(report(0, 1_000, 1_000)).toEqual(['not-replaying', null]);
    expect(report(1_000, 1_170, 1_170)).toEqual([null, null]);
  });

  it('marks a stalled node only while others advance', () => {
    for (let now = 0; now <= 20_000; now += 1_000) report(now, 1_000, 1_000);
    expect(nodes.map(({ slotFault }) => slotFault)).toEqual([null, null, null]);
    expect(report(21_000, 1_000, 1_002)).toEqual(['stalled', null]);
    // Later progress of the other node does not matter.
    for (let now = 22_000; now <= 40_000; now += 1_000) report(now, 1_000, 1_002);
    expect(nodes.map(({ slotFault }) => slotFault)).toEqual(['stalled', null, null]);
    expect(report(41_000, 1_003, 1_004)).toEqual([null, null]);
  });

  it('marks a node that jumps ahead of the only other node, which advances', () => {
    report(0, 1_000, 1_000);
    expect(report(1_000, 1_002, 9_000)).toEqual([null, 'ahead']);
    expect(report(2_000, 1_004, 9_002)).toEqual([null, 'ahead']);
    expect(nodes[0]!.lagSlots).toBe(0n);
    expect(report(3_000, 1_006, 1_006)).toEqual([null, null]);
  });

  it("does not mark a jump to the others' slot or ahead of a stalled node", () => {
    report(0, 1_000, 9_000);
    expect(report(1_000, 9_000, 9_002)).toEqual([null, null]);
    for (let now = 2_000; now <= 14_000; now += 1_000) report(now, 9_000, 9_002 + now / 500);
    expect(report(15_000, 9_000, 12_000)[1]).toBeNull();
  });

  it('marks one of three nodes that is too far ahead', () => {
    expect(report(0, 1_000, 1_001, 9_000_000)).toEqual([null, null, 'ahead']);
    expect(report(1_000, 1_002, 1_003, 1_004)).toEqual([null, null, null]);
  });

  it('ignores nodes that do not respond', () => {
    report(0, 1_000, 5_000);
    expect(nodes[0]!.slotFault).toBe('behind');
    for (let i = 0; i < limits.circuitFailuresMax; i++) nodes[1]!.circuit.recordFailure(1_000);
    expect(report(1_000, 1_001, 5_000)[0]).toBeNull();
  });
});
