import { describe, expect, it } from 'vitest';
import { slot } from '../../solana/units.ts';
import { defaultPlanLimits } from '../auth/key-record.ts';
import { checkPlan, extraCallsOf } from './client-stream.ts';

const blocks = (count: number) => ({
  blocks: new Map(Array.from({ length: count }, (_, nth) => [`b${nth}`, {}])),
});

describe('stream request', () => {
  it('is refused with more block filters than the plan allows', () => {
    expect(() => checkPlan(blocks(10), defaultPlanLimits)).not.toThrow();
    expect(() => checkPlan(blocks(11), defaultPlanLimits)).toThrow(
      expect.objectContaining({
        code: 'FILTER_LIMIT',
        grpcText: 'Max amount of block filters reached, only 10 allowed',
      }),
    );
  });

  it('costs more calls with block filters and with fromSlot', () => {
    expect([extraCallsOf({ slots: new Map([['s', {}]]) }), extraCallsOf(blocks(3))]).toEqual([0, 3]);
    expect([extraCallsOf({ fromSlot: slot(7) }), extraCallsOf({ ...blocks(1), fromSlot: slot(0) })]).toEqual([
      10, 11,
    ]);
  });
});
