import { describe, expect, it } from 'vitest';
import { Utf8Validator } from './utf8-validator.ts';

function isText(pieces: readonly Buffer[]): boolean {
  const utf8 = new Utf8Validator();
  return pieces.every((piece) => utf8.add(piece)) && utf8.isComplete;
}

const cuts = (bytes: Buffer): Buffer[][] =>
  Array.from({ length: bytes.length + 1 }, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)]);
const single = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]));

describe('text that comes in pieces', () => {
  it('is text wherever it is cut', () => {
    const bytes = Buffer.from('aé€😀z😀');
    for (const pieces of [...cuts(bytes), single(bytes)]) expect(isText(pieces)).toBe(true);
  });

  it.each([
    [0xff],
    [0x61, 0x80, 0x61],
    [0xe2, 0x82, 0x61],
    [0xf0, 0x9f, 0x98],
    [0xc0, 0xaf],
    [0xed, 0xa0, 0x80],
    [0x80, 0x80, 0x80, 0x80],
  ])('is none wherever it is cut', (...codes) => {
    const bytes = Buffer.from(codes);
    for (const pieces of [...cuts(bytes), single(bytes)]) expect(isText(pieces)).toBe(false);
  });

  it('is none for good once a piece of it was none', () => {
    const utf8 = new Utf8Validator();
    utf8.add(Buffer.from([0x80]));
    expect([utf8.add(Buffer.from('a')), utf8.isComplete]).toEqual([false, false]);
  });
});
