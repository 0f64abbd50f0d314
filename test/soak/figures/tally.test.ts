import { expect, it } from 'vitest';
import { Refused, Tally, WrongAnswer } from './tally.ts';

const answers = (): Tally => new Tally('an interface', 'answers', 'from a request to its response');

it('a tally has percentiles of each window and of all, at most 1 % too high', () => {
  const tally = answers();
  for (let ms = 1; ms <= 1_000; ms++) tally.took(ms);
  tally.endWindow(0, 10);
  tally.took(5_000);
  tally.endWindow(10, 10);
  const { windows, times, count } = tally.figures;
  expect(count).toBe(1_001);
  expect(windows.map((window) => window.count)).toEqual([1_000, 1]);
  const first = windows[0]?.times;
  for (const [reported, truth] of [
    [first?.p50, 500],
    [first?.p90, 900],
    [first?.p99, 990],
    [first?.max, 1_000],
    [windows[1]?.times?.p50, 5_000],
    [times?.max, 5_000],
  ] as const) {
    expect(reported).toBeGreaterThanOrEqual(truth);
    expect(reported).toBeLessThanOrEqual(truth * 1.01);
  }
});

it('a tally clamps short and long times, and has empty windows', () => {
  const tally = answers();
  tally.endWindow(0, 10);
  tally.took(0);
  tally.took(1e9);
  tally.endWindow(10, 10);
  const [empty, odd] = tally.figures.windows;
  expect([empty?.count, empty?.times]).toEqual([0, null]);
  expect(odd?.times?.max).toBeCloseTo(120_000, -4);
});

it('a tally counts errors by code, and wrong responses separately', async () => {
  const tally = answers();
  await tally.measure(async () => {});
  await tally.measure(async () => Promise.reject(new Refused('OVERLOADED')));
  await tally.measure(async () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNRESET' })));
  for (let number = 0; number < 100; number++) tally.fail(new WrongAnswer(`answer ${number}`));
  for (let number = 0; number < 100; number++) tally.fail(new Refused(`code ${number}`));
  tally.endWindow(0, 10);
  const { failed, wrong, wrongTexts, windows } = tally.figures;
  expect(windows).toMatchObject([{ count: 1, failed: 202 }]);
  expect([wrong, wrongTexts.length, wrongTexts[0]]).toEqual([100, 20, 'answer 0']);
  expect(failed).toMatchObject({ OVERLOADED: 1, ECONNRESET: 1, 'code 0': 1, other: 52 });
});
