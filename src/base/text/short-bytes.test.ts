import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byLength, copyTo, matchesAt } from './short-bytes.ts';

describe('short byte ranges', () => {
  it('match within the limit only', () => {
    const bytes = Buffer.from('xGETx');
    expect([matchesAt(bytes, 1, Buffer.from('GET')), matchesAt(bytes, 0, Buffer.from('GET'))]).toEqual([
      true,
      false,
    ]);
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
