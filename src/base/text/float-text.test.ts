import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { floatText } from './float-text.ts';

describe('the text of a float', () => {
  it.each([
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [-1.5, '-1.5'],
    [0.1, '0.1'],
    [1 / 3, '0.3333333333333333'],
    [0.00001, '0.00001'],
    [0.000001, '1e-6'],
    [1.5e-7, '1.5e-7'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e16'],
    [2 ** 64, '1.8446744073709552e19'],
    [-1e300, '-1e300'],
    [123456.789, '123456.789'],
  ])('%d is as serde_json writes it', (value, text) => {
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
