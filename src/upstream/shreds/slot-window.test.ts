import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Slot, slot } from '../../solana/units.ts';
import { SlotWindow } from './slot-window.ts';

const limits = { slotsAheadMax: 50, slotsBehindMax: 20, staleMs: 10_000 };
const FAR = 1_000_000;

afterEach(() => {
  vi.restoreAllMocks();
});

function made(newestSlot: () => Slot | null = () => null) {
  let now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const window = new SlotWindow({ limits, newestSlot });
  const startSlots = (...slots: readonly number[]): void => {
    for (const each of slots) {
      window.recordShred();
      window.recordSlot(slot(each));
    }
  };
  const fault = (at: number) => window.faultOf(slot(at));
  return { window, startSlots, fault, pass: (ms: number) => (now += ms) };
}

const run = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);

describe('SlotWindow', () => {
  it('has the configured width around the median of started slots', () => {
    const { window, startSlots, fault } = made();
    startSlots(100, 101, 102);
    expect(window.newest).toBe(101n);
    expect([fault(81), fault(80), fault(151), fault(152)]).toEqual([null, 'slotBehind', null, 'slotAhead']);
  });

  it('is not moved by a minority of distant slots', () => {
    const { window, startSlots, fault } = made();
    startSlots(...run(100, 17), ...run(FAR, 16));
    expect(window.newest).toBe(116n);
    expect([fault(117), fault(FAR + 16)]).toEqual([null, 'slotAhead']);
    startSlots(...run(117, 17));
    expect(fault(134)).toBeNull();
    const behind = made();
    behind.startSlots(...run(1_000, 17), ...run(0, 16));
    expect([behind.fault(1_017), behind.fault(17)]).toEqual([null, 'slotBehind']);
  });

  it('uses the newest slot of another source, regardless of shreds', () => {
    const { window, startSlots, fault, pass } = made(() => slot(5_000));
    startSlots(...run(100, 33));
    expect([window.newest, fault(5_050), fault(5_051), fault(133)]).toEqual([
      5_000n,
      null,
      'slotAhead',
      'slotBehind',
    ]);
    pass(limits.staleMs * 100);
    expect(fault(133)).toBe('slotBehind');
  });

  it('resets after a period without verified shreds', () => {
    const { window, startSlots, fault, pass } = made();
    startSlots(100, 101, 102);
    pass(limits.staleMs);
    expect(fault(FAR)).toBe('slotAhead');
    pass(-1);
    window.recordShred();
    pass(limits.staleMs);
    expect(fault(FAR)).toBe('slotAhead');
    pass(1);
    expect([fault(FAR), window.newest]).toEqual([null, null]);
    startSlots(FAR);
    expect([fault(100), fault(FAR + 1)]).toEqual(['slotBehind', null]);
  });
});
