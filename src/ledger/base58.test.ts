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

  it('writes data longer than a transaction, as programs may pass to each other', () => {
    const slowly = (bytes: Uint8Array): string => {
      let text = '';
      for (let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`); rest > 0n; rest /= 58n) {
        text = base58.encode(Uint8Array.of(Number(rest % 58n))).at(-1) + text;
      }
      return text;
    };
    for (const length of [2049, 3000, 10_240]) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 7 + 1) & 0xff);
      expect(encodeBase58(bytes)).toBe(slowly(bytes));
      bytes.fill(0, 0, 5);
      expect(encodeBase58(bytes)).toBe(`11111${slowly(bytes)}`);
    }
    expect(encodeBase58(new Uint8Array(2100))).toBe('1'.repeat(2100));
  });

  it('refuses characters outside the alphabet', () => {
    for (const text of ['0', 'O', 'I', 'l', ' ', 'abc!', 'ä', '1\n']) expect(decodeBase58(text)).toBeNull();
  });
});
