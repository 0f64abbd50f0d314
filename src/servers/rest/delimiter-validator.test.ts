import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DelimiterValidator } from './delimiter-validator.ts';

/** Whether all of a body in those pieces is well. */
function areWell(pieces: readonly Buffer[]): boolean {
  const lines = new DelimiterValidator('b');
  return pieces.every((piece) => lines.accepts(piece));
}

/** Every way to cut the bytes in two, and pieces of every length. */
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

describe('the lines that divide a body', () => {
  it.each([
    '--b\r\nhead\r\n\r\nfile\r\n--b--\r\n',
    'before\r\n--b\r\n\r\n\r\n--b\r\n\r\n--b--',
    '--b\r\n\r\nno line: --b-x, nor \n--b-x\r\n--b--',
    '--b\r\n\r\n--b--\r\n--b-x\r\n',
  ])('are well wherever pieces end: %j', (text) => {
    for (const pieces of splits(text)) expect(areWell(pieces), String(pieces)).toBe(true);
  });

  it.each([
    '\r\n--b-\r\n--b\r\n\r\n\r\n--b--',
    '--b-x\r\n\r\n--b--',
    '--b\r\n\r\nfile\r\n--bc\r\n--b--',
    '--b\r\n\r\nfile\r\n--b\n\r\n--b--',
    '--b \r\n\r\nfile\r\n--b--',
  ])('that only begin like one are found wherever pieces end: %j', (text) => {
    for (const pieces of splits(text)) expect(areWell(pieces), String(pieces)).toBe(false);
  });

  it('are judged the same in whatever pieces', () => {
    const word = fc.constantFrom('\r\n', '--b', '-', '\r', '\n', ' ', 'b', 'text');
    const property = fc.property(
      fc.array(word, { maxLength: 20 }),
      fc.integer({ min: 1, max: 9 }),
      (words, length) => {
        const bytes = Buffer.from(words.join(''), 'latin1');
        const pieces: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += length) pieces.push(bytes.subarray(at, at + length));
        expect(areWell(pieces)).toBe(areWell([bytes]));
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });
});
