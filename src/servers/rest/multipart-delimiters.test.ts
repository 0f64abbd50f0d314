import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DelimiterValidator } from './multipart.ts';

function accepts(pieces: readonly Buffer[]): boolean {
  const validator = new DelimiterValidator('b');
  return pieces.every((piece) => validator.accepts(piece));
}

/** All splits into two pieces, and into equal pieces of every length. */
function splits(text: string): Buffer[][] {
  const bytes = Buffer.from(text, 'latin1');
  const halves = Array.from(bytes, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)]);
  const even = Array.from(bytes, (_, less) => {
    const count = Math.ceil(bytes.length / (less + 1));
    return Array.from({ length: count }, (_one, at) =>
      bytes.subarray(at * (less + 1), (at + 1) * (less + 1)),
    );
  });
  return [...halves, ...even];
}

describe('DelimiterValidator', () => {
  it.each([
    '--b\r\nhead\r\n\r\nfile\r\n--b--\r\n',
    'before\r\n--b\r\n\r\n\r\n--b\r\n\r\n--b--',
    '--b\r\n\r\nno line: --b-x, nor \n--b-x\r\n--b--',
    '--b\r\n\r\n--b--\r\n--b-x\r\n',
  ])('accepts valid delimiters for any piece boundaries: %j', (text) => {
    for (const pieces of splits(text)) expect(accepts(pieces), String(pieces)).toBe(true);
  });

  it.each([
    '\r\n--b-\r\n--b\r\n\r\n\r\n--b--',
    '--b-x\r\n\r\n--b--',
    '--b\r\n\r\nfile\r\n--bc\r\n--b--',
    '--b\r\n\r\nfile\r\n--b\n\r\n--b--',
    '--b \r\n\r\nfile\r\n--b--',
  ])('rejects lines that only start like a delimiter, for any piece boundaries: %j', (text) => {
    for (const pieces of splits(text)) expect(accepts(pieces), String(pieces)).toBe(false);
  });

  it('decides independently of piece boundaries', () => {
    const word = fc.constantFrom('\r\n', '--b', '-', '\r', '\n', ' ', 'b', 'text');
    const property = fc.property(
      fc.array(word, { maxLength: 20 }),
      fc.integer({ min: 1, max: 9 }),
      (words, length) => {
        const bytes = Buffer.from(words.join(''), 'latin1');
        const pieces: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += length) pieces.push(bytes.subarray(at, at + length));
        expect(accepts(pieces)).toBe(accepts([bytes]));
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });
});
