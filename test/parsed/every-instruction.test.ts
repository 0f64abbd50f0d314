import { describe, expect, it } from 'vitest';
import type { Address } from '../../src/solana/address.ts';
import { programs } from '../../src/solana/programs.ts';
import { confidentialRows } from './rows/confidential.ts';
import { nativeRows } from './rows/native.ts';
import { bytesOf, k, keys, parsed } from './rows/row.ts';
import { tokenRows } from './rows/token.ts';

describe.each([...nativeRows, ...tokenRows, confidentialRows])(
  '$program instruction',
  ({ program, programId, rows }) => {
    it.each(rows)('$type matches its row (%#)', ({ type, data, accounts, info }) => {
      expect(parsed(programId, accounts, data)).toEqual({
        parsed: info === undefined ? { type } : { type, info },
        ...{ program, programId, stackHeight: 1 },
      });
    });

    it.each(rows)(
      '$type requires its data and $minimum accounts (%#)',
      ({ type, data, accounts, minimum }) => {
        for (let length = 1; length < data.length; length++) {
          const cut = parsed(programId, accounts, data.subarray(0, length)) as { parsed: object } | null;
          // Trailing text, trailing types and shorter batches are valid at many lengths.
          const mayBeWhole = ['uiAmountToAmount', 'getAccountDataSize', 'reallocate', 'batch'].includes(type);
          if (cut !== null)
            expect([mayBeWhole, cut.parsed]).toEqual([true, expect.objectContaining({ type })]);
        }
        const unparsed = accounts.map(
          (_, count) => parsed(programId, accounts.slice(0, count), data) === null,
        );
        expect(unparsed).toEqual(accounts.map((_, count) => count < minimum));
      },
    );
  },
);

const { ata, stake, system, token, token2022, vote } = programs;

describe('instruction', () => {
  it.each([
    ['number that does not exist', system, '99:32'],
    ['seed that is not UTF-8', system, '10:32 @8 1:64 255 @9'],
    ['option that is neither 0 nor 1', stake, '6:32 2'],
    ['authority that does not exist', stake, '10:32 2:32'],
    ['impossible count', vote, '2:32 18446744073709551615:64'],
    ['slot beyond u64', vote, '14:32 18446744073709551614:64 1 2 1 @8 0 @9'],
    ['varint beyond u64', vote, '14:32 1:64 1 255 255 255 255 255 255 255 255 255 2 1 @8 0 @9'],
    ['varint with a superfluous byte', vote, '14:32 1:64 1 129 0 1 @8 0 @9'],
    ['empty data', token, ''],
    ['unknown discriminant', token, '200'],
    ['unknown authority type', token, '6 99 0'],
    ['missing authority', token, '6 1 1'],
    ['invalid text', token, '24 255'],
    ['batch of more accounts than remain', token, '255 2 1 17 9 1 17'],
    ['batch within a batch', token, '255 1 1 255'],
    ['batch with less data than stated', token, '255 1 9 17'],
    ['account state that does not exist', token2022, '28 0 3'],
    ['more fee accounts than given', token2022, '26 3 9'],
    ['trailing byte of an extension', token2022, '36 1 @9 0'],
    ['unknown extension instruction', token2022, '36 9'],
    ['unknown field kind', token2022, "metadata:updating_field 4 32'X'"],
    ['trailing byte in borsh', ata, '1 0'],
    ['number beyond the last', ata, '3'],
  ])('with %s is unparsed', (_, programId, data) => {
    expect(parsed(programId, keys(8), bytesOf(data))).toBeNull();
  });

  it('may have trailing bytes in bincode', () => {
    expect(parsed(system, keys(2), bytesOf('2:32 5:64 9 9 9'))).toMatchObject({
      parsed: { type: 'transfer' },
    });
  });

  it.each([programs.memoV1, programs.memoV3, programs.memoV4])('of memo %s is its text', (programId) => {
    const memo = parsed(programId, [], Buffer.from('🦖'));
    expect(memo).toEqual({ parsed: '🦖', program: 'spl-memo', programId, stackHeight: 1 });
    expect(parsed(programId, [], Uint8Array.of(240, 159))).toBeNull();
  });

  it.each<Address>([
    ...[programs.config, programs.computeBudget, programs.loaderV4, programs.zkElGamalProof],
    ...[programs.ed25519, programs.bpfLoader1, k(9)],
  ])('of %s stays unparsed', (programId) => {
    expect(parsed(programId, keys(8), bytesOf('0:64'))).toBeNull();
  });
});
