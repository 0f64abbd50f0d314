import { describe, expect, it } from 'vitest';
import { faultsOf, type KeyFigures } from './keys-result.ts';

const good: KeyFigures = {
  ...{ minutes: 1, delays: Array(40).fill(30), closing: Array(20).fill(50), limitChanges: 3 },
  ...{ accepted: 600, least: 300, most: 700 },
};

describe('the verdict on keys that change', () => {
  it('finds no fault in what holds', () => {
    expect(faultsOf(good)).toEqual([]);
    expect(faultsOf({ ...good, delays: [...Array(200).fill(1), 1_500] })).toEqual([]);
  });

  it.each([
    ['changes that took too long', { delays: Array(20).fill(1_001) }, 'in force: after 1001 ms'],
    ['connections that closed too late', { closing: Array(20).fill(1_001) }, 'closed: after 1001 ms'],
    ['changes that were not measured', { delays: [] }, 'in force: measured 0 times, not 20'],
    ['too few connections for so long', { minutes: 2 }, 'closed: measured 20 times, not 40'],
    ['limits that were not changed', { limitChanges: 0 }, 'no change of a limit'],
    ['a limit that lets too much in', { accepted: 701 }, '700 are the most'],
    ['a limit that lets nothing in', { accepted: 0 }, '300 are the least'],
  ])('finds %s', (_, change: Partial<KeyFigures>, words) => {
    expect(faultsOf({ ...good, ...change })).toEqual([expect.stringContaining(words)]);
  });
});
