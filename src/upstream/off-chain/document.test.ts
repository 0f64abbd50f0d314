import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { documentIn, parseDocument } from './document.ts';
import { offChainLimits } from './limits.ts';

const limits = { ...offChainLimits, documentMaxBytes: 1_000_000 };
const read = (text: string | Buffer) => {
  const document = documentIn(Buffer.from(text as string), limits);
  return document === null ? null : parseDocument(document);
};

describe('a document', () => {
  it('is read with exact numbers, and without the mark that some editors put before it', () => {
    expect(read('{"supply":18446744073709551615,"name":"é"}')).toEqual({
      supply: 18_446_744_073_709_551_615n,
      name: 'é',
    });
    expect(read(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"a":1}')]))).toEqual({ a: 1 });
  });

  it.each([
    ['nothing', ''],
    ['a mark alone', Buffer.from([0xef, 0xbb, 0xbf])],
    ['HTML', '<!doctype html>'],
    ['JSON that was cut off', '{"a":1'],
    ['JSON with more behind it', '{"a":1} x'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['UTF-16', Buffer.from('﻿{"a":1}', 'utf16le')],
    ['too many bytes', `"${'x'.repeat(1_000_000)}"`],
    ['too many values', `[${'0,'.repeat(limits.valuesMax)}0]`],
    ['too many empty values', `[${'[],'.repeat(limits.valuesMax)}[]]`],
    ['arrays 100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects 100,000 deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['arrays without an end', '['.repeat(500_000)],
  ])('is not made of %s', (_, text) => expect(read(text)).toBeNull());

  it('may be as deep as is said and no deeper', () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(read(deep(limits.depthMax))).not.toBeNull();
    expect(read(deep(limits.depthMax + 1))).toBeNull();
  });

  it('does not count commas inside of strings', () => {
    expect(read(JSON.stringify(',[{\\"'.repeat(limits.valuesMax)))).not.toBeNull();
  });

  it('is any JSON, as it stands', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        expect(documentIn(Buffer.from(text), limits)?.toString()).toBe(text);
      }),
    );
  });
});
