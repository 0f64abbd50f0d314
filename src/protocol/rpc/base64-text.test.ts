import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64 } from './base64-text.ts';

describe('base64', () => {
  it('decodes the encoding of any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
        expect(decodeBase64(Buffer.from(bytes).toString('base64'))).toEqual({ bytes });
      }),
    );
  });

  it('accepts only the canonical encoding', () => {
    const text = fc.string({ unit: fc.constantFrom(...'AQg+/=-_ \n'), maxLength: 12 });
    fc.assert(
      fc.property(text, (candidate) => {
        const decoded = decodeBase64(candidate);
        const isCanonical = Buffer.from(candidate, 'base64').toString('base64') === candidate;
        expect('bytes' in decoded).toBe(isCanonical);
      }),
    );
  });

  it.each<[string, string]>([
    ['A', 'InvalidLength(1)'],
    ['AAAAA', 'InvalidLength(5)'],
    ['AA', 'InvalidPadding'],
    ['AB==', 'InvalidLastSymbol(1, 66)'],
    ['AAB=', 'InvalidLastSymbol(2, 66)'],
    ['AAAA====', 'InvalidByte(4, 61)'],
    ['AAAA\n', 'InvalidByte(4, 10)'],
    ['AA-A', 'InvalidByte(2, 45)'],
    ['é', 'InvalidByte(0, 195)'],
  ])('reports the fault of %j like Rust', (text, fault) => {
    expect(decodeBase64(text)).toEqual({ fault });
  });
});
