import { zstdDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { account } from '../../../test/streams/ledger-script.ts';
import { writeJson } from '../../base/json.ts';
import type { Account } from '../account/account.ts';
import { address } from '../address.ts';
import { programs } from '../programs.ts';
import { lamports, U64_MAX } from '../units.ts';
import { Base58TooLong, encodeAccount } from './ui-account.ts';

const at = address('SysvarC1ock11111111111111111111111111111111');
const holding = (data: Uint8Array): Account =>
  account({ lamports: lamports(U64_MAX), data, owner: programs.memoV3 });
const five = holding(Uint8Array.of(1, 2, 3, 4, 5));
const rest =
  '"executable":false,"lamports":18446744073709551615,"owner":"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr","rentEpoch":18446744073709551615,"space":5}';

describe('encodeAccount', () => {
  it.each([
    ['binary', '"7bWpTW"'],
    ['base58', '["7bWpTW","base58"]'],
    ['base64', '["AQIDBAU=","base64"]'],
    ['jsonParsed', '["AQIDBAU=","base64"]'],
  ] as const)('renders %s with exact u64 and members in wire order', (encoding, data) => {
    expect(writeJson(encodeAccount(at, five, encoding, null))).toBe(`{"data":${data},${rest}`);
  });

  it('compresses with zstd', () => {
    const { data } = encodeAccount(at, holding(new Uint8Array(100_000)), 'base64+zstd', undefined) as {
      data: [string, string];
    };
    expect(data[1]).toBe('base64+zstd');
    expect(data[0].length).toBeLessThan(200);
    expect(zstdDecompressSync(Buffer.from(data[0], 'base64'))).toEqual(Buffer.alloc(100_000));
  });

  it.each([
    [{ offset: 1, length: 2 }, 'AgM='],
    [{ offset: 3, length: 100 }, 'BAU='],
    [{ offset: 5, length: 1 }, ''],
    [{ offset: 99, length: 1 }, ''],
    [{ offset: 0, length: Number.MAX_SAFE_INTEGER }, 'AQIDBAU='],
    [{ offset: 2, length: 0 }, ''],
  ])('slices by %o and keeps space', (slice, text) => {
    expect(encodeAccount(at, five, 'base64', slice)).toMatchObject({ data: [text, 'base64'], space: 5 });
    expect(encodeAccount(at, five, 'jsonParsed', slice)).toMatchObject({ data: [text, 'base64'] });
  });

  it('rejects base58 beyond 128 bytes after slicing', () => {
    const long = holding(new Uint8Array(129));
    const words = 'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.';
    for (const encoding of ['binary', 'base58'] as const) {
      expect(() => encodeAccount(at, long, encoding, null)).toThrow(new Base58TooLong());
      expect(() => encodeAccount(at, long, encoding, null)).toThrow(words);
      expect(() => encodeAccount(at, long, encoding, { offset: 1, length: 500 })).not.toThrow();
      expect(() => encodeAccount(at, holding(new Uint8Array(128)), encoding, null)).not.toThrow();
    }
  });
});
