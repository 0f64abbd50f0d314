import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decoded, mayBeJson } from './content.ts';

const TEXT = Buffer.from('{"name":"n"}');
const BOMB = Buffer.alloc(100_001, ' ');
const codings: [string, (bytes: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
];

describe('content that is coded', () => {
  it.each(codings)('as %s is decoded as far as it may be long, and no further', async (coding, encode) => {
    expect(await decoded(encode(TEXT), coding, 100_000)).toEqual(TEXT);
    expect(await decoded(encode(BOMB.subarray(1)), coding, 100_000)).toEqual(BOMB.subarray(1));
    expect(await decoded(encode(BOMB), coding, 100_000)).toBeNull();
    expect(await decoded(encode(TEXT).subarray(0, -3), coding, 100_000)).toBeNull();
  });

  it('in a way that is not known is not taken', async () => {
    for (const coding of ['zstd', 'gzip, br', 'compress'])
      expect(await decoded(TEXT, coding, 100)).toBeNull();
    for (const coding of [undefined, '', ' Identity ']) expect(await decoded(TEXT, coding, 100)).toBe(TEXT);
  });
});

describe('a content type', () => {
  it.each([
    undefined,
    'application/json',
    'Application/JSON ; charset=utf-8',
    'application/vnd.a.b-1+json',
    'text/plain',
  ])('may stand over JSON: %s', (type) => expect(mayBeJson(type)).toBe(true));

  it.each([
    'text/html',
    'image/svg+xml',
    'application/jsonp',
    'application/json5',
    'text/plain2',
    'json',
    '',
  ])('is none of JSON: %j', (type) => expect(mayBeJson(type)).toBe(false));
});
