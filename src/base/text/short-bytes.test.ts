import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byLength, byteTable, copyTo, isToken, matchesAt, skipWhile } from './short-bytes.ts';

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

  it('match a token ignoring case', () => {
    const word = Buffer.from('keep-alive');
    const is = (text: string) => isToken(Buffer.from(text), 0, text.length, word);
    expect(['Keep-Alive', 'keep-alive', 'KEEP-ALIVE'].map(is)).toEqual([true, true, true]);
    expect(['keep-alive,', 'keep_alive', 'keep alive', 'close', ''].map(is)).toEqual(Array(5).fill(false));
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

  it('are skipped while in a table', () => {
    const digits = byteTable((text) => /\d/.test(text));
    const bytes = Buffer.from('a123b');
    expect([
      skipWhile(bytes, 1, 5, digits),
      skipWhile(bytes, 1, 3, digits),
      skipWhile(bytes, 0, 5, digits),
    ]).toEqual([4, 3, 0]);
  });

  it('are grouped by length', () => {
    const [a, b, long] = ['a', 'b', 'long'].map((text) => ({ name: Buffer.from(text) }));
    expect(byLength([a!, long!, b!])).toEqual([undefined, [a, b], undefined, undefined, [long]]);
  });
});
