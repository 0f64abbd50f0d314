import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase58, encodeBase58 } from './base58.ts';

/** Bytes with runs of zeros and of ones at either end, where carries and leading digits go wrong. */
const edged = (length: number): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(
      fc.uint8Array({ minLength: length, maxLength: length }),
      fc.nat(length),
      fc.nat(length),
      fc.boolean(),
    )
    .map(([bytes, from, to, ones]) => Uint8Array.from(bytes).fill(ones ? 0xff : 0, Math.min(from, to), to));

describe('base58', () => {
  it.each([32, 64])('writes %i bytes exactly as the reference library does', (length) => {
    fc.assert(
      fc.property(edged(length), (bytes) => {
        expect(encodeBase58(bytes)).toBe(base58.encode(bytes));
      }),
      { numRuns: 3_000 },
    );
    for (const fill of [0, 1, 0x3a, 0xff]) {
      const bytes = new Uint8Array(length).fill(fill);
      expect(encodeBase58(bytes)).toBe(base58.encode(bytes));
    }
  });

  it('reads back what it wrote, of any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        expect(decodeBase58(encodeBase58(bytes))).toEqual(bytes);
      }),
    );
  });

  it('refuses characters outside the alphabet', () => {
    for (const text of ['0', 'O', 'I', 'l', ' ', 'abc!', 'ä', '1\n']) expect(decodeBase58(text)).toBeNull();
  });
});
