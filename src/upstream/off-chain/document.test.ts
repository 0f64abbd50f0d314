import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decoded, documentIn, mayBeJson, parseDocument } from './document.ts';
import { offChainLimits } from './limits.ts';

const limits = { ...offChainLimits, documentMaxBytes: 1_000_000 };
const read = (text: string | Buffer) => {
  const document = documentIn(Buffer.from(text as string), limits);
  return document === null ? null : parseDocument(document);
};

describe('documents', () => {
  it('keep exact numbers and drop a byte order mark', () => {
    expect(read('{"supply":18446744073709551615,"name":"é"}')).toEqual({
      supply: 18_446_744_073_709_551_615n,
      name: 'é',
    });
    expect(read(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"a":1}')]))).toEqual({ a: 1 });
  });

  it.each([
    ['an empty body', ''],
    ['only a byte order mark', Buffer.from([0xef, 0xbb, 0xbf])],
    ['truncated JSON', '{"a":1'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['too many bytes', `"${'x'.repeat(1_000_000)}"`],
    ['too many values', `[${'0,'.repeat(limits.valuesMax)}0]`],
    ['arrays nested 100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000)],
  ])('are rejected: %s', (_, text) => expect(read(text)).toBeNull());

  it('are limited in depth', () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(read(deep(limits.depthMax))).not.toBeNull();
    expect(read(deep(limits.depthMax + 1))).toBeNull();
  });

  it('may contain any number of commas in strings', () => {
    expect(read(JSON.stringify(',[{\\"'.repeat(limits.valuesMax)))).not.toBeNull();
  });
});

const TEXT = Buffer.from('{"name":"n"}');
const BOMB = Buffer.alloc(100_001, ' ');
const codings: [string, (bytes: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
];

describe('content codings', () => {
  it.each(codings)('include %s, up to the size limit', async (coding, encode) => {
    expect(await decoded(encode(TEXT), coding, 100_000)).toEqual(TEXT);
    expect(await decoded(encode(BOMB.subarray(1)), coding, 100_000)).toEqual(BOMB.subarray(1));
    expect(await decoded(encode(BOMB), coding, 100_000)).toBeNull();
    expect(await decoded(encode(TEXT).subarray(0, -3), coding, 100_000)).toBeNull();
  });

  it('are rejected if unknown', async () => {
    for (const coding of ['zstd', 'gzip, br', 'compress'])
      expect(await decoded(TEXT, coding, 100)).toBeNull();
    for (const coding of [undefined, '', ' Identity ']) expect(await decoded(TEXT, coding, 100)).toBe(TEXT);
  });
});

describe('content types', () => {
  it.each([
    undefined,
    'application/json',
    'Application/JSON ; charset=utf-8',
    'application/vnd.a.b-1+json',
    'text/plain',
  ])('are accepted: %s', (type) => expect(mayBeJson(type)).toBe(true));

  it.each(['text/html', 'image/svg+xml', 'application/jsonp', 'json', ''])('are rejected: %j', (type) =>
    expect(mayBeJson(type)).toBe(false),
  );
});
