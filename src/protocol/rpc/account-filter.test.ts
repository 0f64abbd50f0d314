import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import { encodeBase58 } from '../../solana/base58.ts';
import { RpcError } from '../rpc-error.ts';
import { readFilters, verifyFilters } from './account-filter.ts';

const filtersOf = (value: JsonValue) => verifyFilters(readFilters(value));

function messageOf(value: JsonValue): string {
  try {
    filtersOf(value);
  } catch (error) {
    if (error instanceof RpcError && error.code === -32602) return error.message;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const memcmp = (members: { [name: string]: JsonValue }): JsonValue => [{ memcmp: { offset: 0, ...members } }];
const ZEROS_128 = '1'.repeat(128);

describe('filters', () => {
  it('are parsed in every notation', () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const base58 = encodeBase58(bytes);
    expect(
      filtersOf([
        { dataSize: 165 },
        'tokenAccountState',
        { memcmp: { offset: 32, bytes: base58 } },
        { memcmp: { offset: 32, bytes: base58, encoding: 'base58' } },
      ]),
    ).toEqual([
      { kind: 'dataSize', size: 165n },
      { kind: 'tokenAccountState' },
      { kind: 'memcmp', offset: 32n, bytes },
      { kind: 'memcmp', offset: 32n, bytes },
    ]);
    const others = [
      { bytes: 'AQID', encoding: 'base64' },
      { bytes: [1, 2, 3] },
      { bytes: [1, 2, 3], encoding: 'bytes' },
      { bytes: base58, encoding: 'bytes' },
    ];
    for (const other of others) {
      expect(filtersOf(memcmp(other))).toEqual([{ kind: 'memcmp', offset: 0n, bytes }]);
    }
  });

  it('accept at most 128 bytes', () => {
    expect(filtersOf(memcmp({ bytes: ZEROS_128 }))).toMatchObject([{ bytes: new Uint8Array(128) }]);
    const full = Buffer.alloc(128, 0xff);
    for (const members of [
      { bytes: encodeBase58(full) },
      { bytes: full.toString('base64'), encoding: 'base64' },
    ])
      expect(filtersOf(memcmp(members))).toMatchObject([{ bytes: Uint8Array.from(full) }]);
    const large = [
      { bytes: `${ZEROS_128}1` },
      { bytes: 'z'.repeat(176) },
      { bytes: Array<number>(129).fill(0) },
      { bytes: Buffer.alloc(129).toString('base64'), encoding: 'base64' },
      { bytes: 'A'.repeat(176), encoding: 'base64' },
    ];
    for (const members of large) expect(messageOf(memcmp(members))).toBe('Invalid param: DataTooLarge');
  });

  it.each<[JsonValue, string]>([
    [Array<JsonValue>(5).fill({ dataSize: 1 }), 'Too many filters provided; max 4'],
    [
      memcmp({ bytes: 'ab0' }),
      "Invalid param: Base58DecodeError(InvalidCharacter { character: '0', index: 2 })",
    ],
    [memcmp({ bytes: 'abé' }), 'Invalid param: Base58DecodeError(NonAsciiCharacter { index: 2 })'],
    [memcmp({ bytes: 'AQI', encoding: 'base64' }), 'Invalid param: Base64DecodeError(InvalidPadding)'],
  ])('are rejected for their content: %j', (value, text) => {
    expect(messageOf(value)).toBe(text);
  });

  it.each<[JsonValue, string]>([
    [5, 'invalid type: integer `5`, expected a sequence'],
    [[{ size: 5 }], 'unknown variant `size`, expected one of `dataSize`, `memcmp`, `tokenAccountState`'],
    [[{ memcmp: { bytes: '1' } }], 'missing field `offset`'],
    [memcmp({}), 'missing field `bytes`'],
    [memcmp({ bytes: [256] }), 'data did not match any variant of untagged enum DataType'],
    [
      memcmp({ bytes: '1', encoding: 'hex' }),
      'unknown variant `hex`, expected one of `base58`, `base64`, `bytes`',
    ],
  ])('are rejected for their structure: %j', (value, text) => {
    expect(messageOf(value)).toBe(`Invalid params: ${text}.`);
  });
});
