import { describe, expect, it } from 'vitest';
import {
  answersOutcome,
  descriptorsOutcome,
  endsOutcome,
  isStarved,
  memoryOutcome,
  watchReleased,
} from './outcomes.ts';
import { Refused, Tally, WrongAnswer } from './tally.ts';

/** Samples of ten-second windows, one per second. */
const samples = (windows: number, valueAt: (at: number) => number): number[] =>
  Array.from({ length: windows * 10 }, (_, at) => valueAt(Math.floor(at / 10)));

describe('outcomes', () => {
  it('require flat memory after startup, unless processes were starved or the run was short', () => {
    const memory = (mib: readonly number[], wasStarved = false) =>
      memoryOutcome('gateway', mib, wasStarved).isFulfilled;
    const grown = samples(18, (at) => (at < 13 ? 100 : 116));
    expect(memory(samples(18, (at) => (at < 13 ? 100 : 114)))).toBe(true);
    expect([memory(grown), memory(grown, true)]).toEqual([false, null]);
    expect(memory(samples(12, (at) => (at < 6 ? 10 : 100)))).toBe(true);
    expect(memory([1, 2, 3])).toBe(null);
    expect(isStarved(samples(3, () => 500))).toBe(false);
    expect(isStarved(samples(3, (at) => at * 300))).toBe(true);
  });

  it.each([
    ['a short peak', (at: number) => (at === 15 ? 200 : 20), true],
    ['slow growth', (at: number) => 20 + at * 3, false],
    ['growing peaks', (at: number) => (at < 13 ? 20 : 20 + (at - 12) * 60), false],
  ])('accept or reject descriptors with %s', (_, valueAt, expected) => {
    expect(descriptorsOutcome('gateway', samples(18, valueAt)).isFulfilled).toBe(expected);
  });

  it.each([
    ['5 more at the end', (at: number) => (at >= 17 ? 33 : 28), true],
    ['6 more at the end', (at: number) => (at >= 17 ? 34 : 28), false],
    ['6 fewer at the end', (at: number) => (at >= 17 ? 22 : 28), false],
    ['6 more from the middle on', (at: number) => (at >= 8 ? 34 : 28), false],
    ['a drift of 2', (at: number) => 28 + Math.floor(at / 4), true],
    ['a larger drift', (at: number) => 28 + Math.floor(at / 2), false],
  ])('accept or reject connection ends with %s', (_, valueAt, expected) => {
    const others = [samples(18, () => 8), samples(18, () => 2)];
    expect(endsOutcome(samples(18, valueAt), others).isFulfilled).toBe(expected);
  });

  it('require files and sockets to be released', async () => {
    let open = 40;
    const count = (): number => {
      if (open < 0) throw new Error('gone');
      return open;
    };
    const again = watchReleased('gateway', 'then', count, 0);
    const found: (boolean | null)[] = [];
    for (open of [30, 41, 42, -1]) found.push((await again()).isFulfilled);
    expect(found).toEqual([true, true, false, false]);
  });

  it('require responses, all correct, and count errors by code', () => {
    const [silent, wrong] = [new Tally('a', 'answers'), new Tally('b', 'answers')];
    wrong.took(1);
    expect([answersOutcome(wrong).isFulfilled, answersOutcome(silent).isFulfilled]).toEqual([true, false]);
    wrong.fail(new WrongAnswer('no'));
    for (let number = 0; number < 100; number++) wrong.fail(new Refused(`code ${number}`));
    expect(answersOutcome(wrong).isFulfilled).toBe(false);
    expect([wrong.errors, wrong.failed.other, wrong.wrongTexts]).toEqual([100, 50, ['no']]);
  });
});
