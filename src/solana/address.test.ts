import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressFromBytes, compareAddresses } from './address.ts';

describe('compareAddresses', () => {
  it('matches byte order with leading zeros', () => {
    const bytes = fc
      .tuple(fc.integer({ min: 0, max: 32 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
      .map(([zeros, tail]) => Uint8Array.from(tail, (byte, i) => (i < zeros ? 0 : byte)));
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        const order = compareAddresses(addressFromBytes(a), addressFromBytes(b));
        expect(Math.sign(order)).toBe(Buffer.compare(a, b));
      }),
    );
  });
});
