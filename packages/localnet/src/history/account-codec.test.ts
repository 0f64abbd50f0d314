import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter, OutOfBytes } from '../../../../src/base/bytes.ts';
import { addressFromBytes } from '../../../../src/solana/address.ts';
import { account } from '../../../../test/streams/ledger-script.ts';
import { readAccount, writeAccount } from './account-codec.ts';

const owned = addressFromBytes(new Uint8Array(32).fill(5));
/** As long as a vote account, most of which is zeros. */
const vote = account({ data: new Uint8Array(3762).fill(7, 0, 500) });
/** Address, flags, owner, lamports and rent epoch come before. */
const LENGTH_OFFSET = 32 + 1 + 32 + 8 + 8;

function written(): Uint8Array {
  const writer = new ByteWriter();
  writeAccount(writer, owned, vote);
  return writer.finish();
}

describe('stored account', () => {
  it('has only the number of the zeros at its end', () => {
    expect(written()).toHaveLength(LENGTH_OFFSET + 4 + 4 + 500);
    expect(readAccount(new ByteReader(written()))).toEqual([owned, vote]);
  });

  it.each([499, 10 * 1024 * 1024 + 1])('is rejected if its data should have %i bytes', (length) => {
    const bytes = Buffer.from(written());
    bytes.writeUInt32LE(length, LENGTH_OFFSET);
    expect(() => readAccount(new ByteReader(bytes))).toThrow(OutOfBytes);
  });
});
