import { describe, expect, it } from 'vitest';
import { slot } from '../../../solana/units.ts';
import { feedLimits } from '../limits.ts';
import { type Gap, GapTooLong, gapWindow, SeenSlots } from './gap-recovery.ts';

const limits = { ...feedLimits, gapMarginSlots: 8, gapBlocksMax: 100 };
const at = (value: number, root = value - 32) => ({
  slot: slot(value),
  parent: slot(value - 1),
  root: slot(root),
});
const gap = (ends: Pick<Gap, 'opened' | 'from' | 'to'>): Gap => ({ ...ends, limits }) as unknown as Gap;
const shown = ({ from, to }: { from: bigint; to: bigint }): number[] => [Number(from), Number(to)];

describe('gapWindow', () => {
  const usual = gap({ opened: at(500), from: at(1_000), to: at(1_010) });

  it('is bounded by roots at finalized', () => {
    expect(shown(gapWindow(usual, 'finalized', slot(968)))).toEqual([960, 978]);
  });

  it('starts at the last emitted slot when the commitment lags', () => {
    expect(shown(gapWindow(usual, 'confirmed', slot(970)))).toEqual([970, 1_010]);
    expect(shown(gapWindow(usual, 'confirmed', slot(998)))).toEqual([992, 1_010]);
    expect(shown(gapWindow(usual, 'finalized', slot(950)))).toEqual([950, 978]);
  });

  it('starts no earlier than the opening slot, minus a margin, if nothing was emitted', () => {
    const stalled = gap({ opened: at(980, 900), from: at(1_000, 900), to: at(1_010, 900) });
    expect(shown(gapWindow(stalled, 'confirmed', null))).toEqual([972, 1_010]);
    const behind = gap({ opened: at(1_005), from: at(1_000), to: at(1_010) });
    expect(shown(gapWindow(behind, 'confirmed', null))).toEqual([997, 1_010]);
  });

  it('rejects a gap longer than the limit', () => {
    const stalled = gap({ opened: at(500), from: at(1_000, 700), to: at(1_010, 700) });
    expect(shown(gapWindow(stalled, 'confirmed', slot(720)))).toEqual([910, 1_010]);
    const long = gap({ opened: at(500), from: at(1_000), to: at(1_200) });
    expect(() => gapWindow(long, 'confirmed', slot(1_000))).toThrow(GapTooLong);
  });
});

it('SeenSlots treats a repeated name as the newest', () => {
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
