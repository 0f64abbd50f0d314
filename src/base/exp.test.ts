import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exp } from './exp.ts';

describe('exp', () => {
  // Nearest f64 of the exact value, computed to 50 digits.
  it.each<[number, number]>([
    [0, 1],
    [1, Math.E],
    [100, 2.6881171418161356e43],
    [-700, 9.85967654375977e-305],
    [709.7, 1.6549840276802644e308],
    [1e-17, 1],
  ])('of %d is %d', (x, value) => {
    expect(exp(x)).toBe(value);
  });

  it('overflows to Infinity, underflows to 0 and keeps NaN', () => {
    expect(exp(709.79)).toBe(Number.POSITIVE_INFINITY);
    expect(exp(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
    expect(exp(-746.1)).toBe(0);
    expect(exp(-1e30)).toBe(0);
    expect(exp(Number.NaN)).toBeNaN();
  });

  it('differs from Math.exp by at most two epsilons', () => {
    fc.assert(
      fc.property(fc.double({ min: -700, max: 700, noNaN: true }), (x) => {
        expect(Math.abs(exp(x) / Math.exp(x) - 1)).toBeLessThanOrEqual(2 * Number.EPSILON);
      }),
    );
  });
});
