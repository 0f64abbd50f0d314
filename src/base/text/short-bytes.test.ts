import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  areDigits,
  byLength,
  copyTo,
  DIGITS_NUMBER_MAX,
  digitCount,
  matchesAt,
  writeDigits,
} from './short-bytes.ts';

describe('short byte ranges', () => {
  it('match within the limit only', () => {
    const bytes = Buffer.from('xGETx');
    expect(matchesAt(bytes, 1, Buffer.from('GET'))).toBe(true);
    expect(matchesAt(bytes, 0, Buffer.from('GET'))).toBe(false);
    expect(matchesAt(bytes, 1, Buffer.from('GET'), 3)).toBe(false);
    expect(matchesAt(bytes, 4, Buffer.from('xy'))).toBe(false);
  });

  it('are copied completely at any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (piece) => {
        const bytes = Buffer.alloc(70, 1);
        expect(copyTo(bytes, 3, Buffer.from(piece))).toBe(3 + piece.length);
        expect(bytes.subarray(3, 3 + piece.length).equals(piece)).toBe(true);
        expect([bytes[2], bytes[3 + piece.length]]).toEqual([1, 1]);
      }),
    );
  });

  it('are grouped by length', () => {
    const [a, b, long] = ['a', 'b', 'long'].map((text) => ({ name: Buffer.from(text) }));
    expect(byLength([a!, long!, b!])).toEqual([undefined, [a, b], undefined, undefined, [long]]);
  });
});

const number = fc.integer({ min: 0, max: DIGITS_NUMBER_MAX });

function written(whole: number, digits: number): string {
  const bytes = Buffer.alloc(digits + 2, '-');
  expect(writeDigits(bytes, 1, whole, digits)).toBe(digits + 1);
  expect(areDigits(bytes, 1, whole, digits)).toBe(true);
  return bytes.toString('latin1');
}

describe('decimal digits in bytes', () => {
  it('equal the digits of String', () => {
    fc.assert(
      fc.property(number, (whole) => {
        expect(written(whole, digitCount(whole))).toBe(`-${whole}-`);
      }),
    );
    for (const whole of [0, 9, 10, 99, 100, 999_999_999, 1_000_000_000, DIGITS_NUMBER_MAX]) {
      expect(written(whole, digitCount(whole))).toBe(`-${whole}-`);
    }
  });

  it('are padded with zeros', () => {
    expect(written(42, 9)).toBe('-000000042-');
  });

  it('do not match numbers with another digit', () => {
    fc.assert(
      fc.property(number, fc.nat(), fc.integer({ min: 1, max: 9 }), (whole, place, more) => {
        const bytes = Buffer.from(`${whole}`);
        const at = place % bytes.length;
        bytes[at] = 0x30 + (((bytes[at] as number) - 0x30 + more) % 10);
        expect(areDigits(bytes, 0, whole, bytes.length)).toBe(false);
      }),
    );
  });
});
