import { expect, it } from 'vitest';
import { exponentialBackoff, withJitter } from './exponential-backoff.ts';

it('doubles with each failure up to the maximum', () => {
  expect([0, 1, 2, 3, 4, 5_000].map((failures) => exponentialBackoff(250, 3_000, failures))).toEqual([
    250, 500, 1_000, 2_000, 3_000, 3_000,
  ]);
  expect(exponentialBackoff(1, 3_600_000, 2_000)).toBe(3_600_000);
});

it('adds jitter', () => {
  const pauses = Array.from({ length: 1_000 }, () => withJitter(1_000));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(750);
  expect(Math.max(...pauses)).toBeLessThan(1_250);
  expect(new Set(pauses).size).toBeGreaterThan(900);
});
