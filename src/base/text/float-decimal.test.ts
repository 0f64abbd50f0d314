import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalText, fixedText, floatText } from './float-decimal.ts';

it.each<[number, string]>([
  [0, '0'],
  [-0, '-0'],
  [-0.25, '-0.25'],
  [1e-7, '0.0000001'],
  [1e21, '1000000000000000000000'],
  [1.2345e22, '12345000000000000000000'],
  [5e-324, `0.${'0'.repeat(323)}5`],
  [Number.NaN, 'NaN'],
  [Number.POSITIVE_INFINITY, 'inf'],
  [Number.NEGATIVE_INFINITY, '-inf'],
])('shortest decimal text of an f64 of %d is %s', (value, text) => {
  expect(decimalText(value)).toBe(text);
});

it.each<[number, number, string]>([
  [0, 2, '0.00'],
  [-0, 1, '-0.0'],
  [0.5, 0, '0'],
  [1.5, 0, '2'],
  [0.125, 2, '0.12'],
  [1.0512710963760241, 18, '1.051271096376024117'],
  [1e22, 0, '10000000000000000000000'],
  [123.456, 20, '123.45600000000000306954'],
  [5e-324, 3, '0.000'],
  [Number.POSITIVE_INFINITY, 6, 'inf'],
])('f64 text of %d with %d fractional digits is %s', (value, digits, text) => {
  expect(fixedText(value, digits)).toBe(text);
});

describe('serde_json text of a float', () => {
  it.each([
    [0, '0.0'],
    [-0, '-0.0'],
    [0.00001, '0.00001'],
    [0.000001, '1e-6'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e+16'],
    [2 ** 64, '1.8446744073709552e+19'],
  ])('of %d equals that of serde_json', (value, text) => {
    expect(floatText(value)).toBe(text);
  });

  it('reads back as the same float and never looks like an integer', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(finite, (value) => {
        expect(Number(floatText(value))).toBe(value);
        expect(floatText(value)).toMatch(/[.e]/);
      }),
    );
  });
});
