import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalText } from '../solana/encoding/ui-token-amount.ts';
import { U64_MAX } from '../solana/units.ts';
import { lamportsOfSol } from './amounts.ts';

describe('SOL to lamports', () => {
  it.each([
    [1, 1_000_000_000n],
    [0.1, 100_000_000n],
    [0.29, 290_000_000n],
    [1.000000001, 1_000_000_001n],
    [5e-10, 1n],
    [2.5e-9, 3n],
    [1e9, 10n ** 18n],
    ['0.5', 500_000_000n],
    ['.5', 500_000_000n],
    ['5.', 5_000_000_000n],
    ['1E2', 100_000_000_000n],
    ['0.0000000014999999999', 1n],
    ['18446744073.709551615', U64_MAX],
    [9_007_199_254n, 9_007_199_254_000_000_000n],
  ])('converts %s', (sol, lamports) => {
    expect(lamportsOfSol(sol)).toBe(lamports);
  });

  it.each([
    0,
    -1,
    4.9e-10,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e20,
    '18446744073.709551616',
    '',
    '.',
    'e5',
    '-1',
    '+1',
    ' 1',
    '0x10',
    '1_000',
    '9'.repeat(1_000_000),
    null,
    [1],
  ])('rejects %s', (sol) => {
    expect(lamportsOfSol(sol)).toBeNull();
  });

  it('round-trips any amount through its text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: U64_MAX }), (amount) => {
        expect(lamportsOfSol(decimalText(amount, 9))).toBe(amount);
      }),
    );
  });
});
