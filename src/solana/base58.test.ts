import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase58, encodeBase58 } from './base58.ts';

/** Bytes with runs of zeros and ones at either end. */
const edged = (length: number): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(
      fc.uint8Array({ minLength: length, maxLength: length }),
      fc.nat(length),
      fc.nat(length),
      fc.boolean(),
    )
    .map(([bytes, from, to, ones]) => Uint8Array.from(bytes).fill(ones ? 0xff : 0, Math.min(from, to), to));

/** Lengths around the special cases. */
const LENGTHS = [0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 66];
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Result of the reference library; null for its errors. */
function referenceOf(text: string): Uint8Array | null {
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}

describe('base58', () => {
  it.each(LENGTHS)('encodes %i bytes as the reference library does and decodes them', (length) => {
    fc.assert(
      fc.property(edged(length), (bytes) => {
        const text = base58.encode(bytes);
        expect(encodeBase58(bytes)).toBe(text);
        expect(decodeBase58(text)).toEqual(bytes);
      }),
      { numRuns: length === 32 || length === 64 ? 1_000 : 300 },
    );
    for (const fill of [0, 1, 0x3a, 0xff]) {
      const bytes = new Uint8Array(length).fill(fill);
      expect(encodeBase58(bytes)).toBe(base58.encode(bytes));
    }
  });

  it('decodes or rejects any text as the reference library does', () => {
    const digits = fc.string({ unit: fc.constantFrom(...ALPHABET), maxLength: 100 });
    const wrong = fc.constantFrom('0', 'O', 'I', 'l', ' ', '\u0000', '\u0080', '\u0131', '\u{1f600}');
    const zeros = fc.nat(90).map((count) => '1'.repeat(count));
    const texts = fc.oneof(
      digits,
      fc.tuple(zeros, digits).map(([head, tail]) => head + tail),
      fc.tuple(digits, wrong, digits).map((parts) => parts.join('')),
      fc.string({ maxLength: 90 }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(decodeBase58(text)).toEqual(referenceOf(text));
      }),
      { numRuns: 1_000 },
    );
    for (let length = 0; length <= 100; length++) {
      for (const digit of ['1', '2', 'z']) {
        expect(decodeBase58(digit.repeat(length))).toEqual(base58.decode(digit.repeat(length)));
      }
    }
  });

  it('handles inner instruction data longer than a transaction', () => {
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
      expect(decodeBase58(slowly(bytes))).toEqual(bytes);
      bytes.fill(0, 0, 5);
      expect(encodeBase58(bytes)).toBe(`11111${slowly(bytes)}`);
      expect(decodeBase58(`11111${slowly(bytes)}`)).toEqual(bytes);
    }
    expect(encodeBase58(new Uint8Array(2100))).toBe('1'.repeat(2100));
    expect(decodeBase58('1'.repeat(2100))).toEqual(new Uint8Array(2100));
    expect(decodeBase58(`${'z'.repeat(3000)}0`)).toBeNull();
    expect(decodeBase58('z'.repeat(13_985))).toHaveLength(10_241);
    expect(decodeBase58('z'.repeat(13_986))).toBeNull();
  });
});
