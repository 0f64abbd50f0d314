import { describe, expect, it } from 'vitest';
import { faultsOf, type KeyFigures } from './keys-result.ts';

const good: KeyFigures = {
  ...{ minutes: 1, delays: Array(40).fill(30), closing: Array(20).fill(50), limitChanges: 3 },
  ...{ accepted: 600, least: 300, most: 700 },
};

describe('faults of key changes', () => {
  it('are not found in good measurements', () => {
    expect(faultsOf(good)).toEqual([]);
    expect(faultsOf({ ...good, delays: [...Array(200).fill(1), 1_500] })).toEqual([]);
  });

  it.each([
    ['slow changes', { delays: Array(20).fill(1_001) }, 'in force: after 1001 ms'],
    ['connections closed late', { closing: Array(20).fill(1_001) }, 'closed: after 1001 ms'],
    ['no measured changes', { delays: [] }, 'in force: measured 0 times, not 20'],
    ['too few closed connections', { minutes: 2 }, 'closed: measured 20 times, not 40'],
    ['no changed limits', { limitChanges: 0 }, 'no change of a limit'],
    ['too many accepted calls', { accepted: 701 }, 'at most 700 allowed'],
    ['too few accepted calls', { accepted: 0 }, 'at least 300 required'],
  ])('include %s', (_, change: Partial<KeyFigures>, words) => {
    expect(faultsOf({ ...good, ...change })).toEqual([expect.stringContaining(words)]);
  });
});
