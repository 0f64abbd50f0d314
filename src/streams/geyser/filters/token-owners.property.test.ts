import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transactionUpdate } from '../../../../test/streams/random-updates.ts';
import type { RawKeys, RawTransaction } from '../../../protocol/geyser/raw-update.ts';
import { addressFromBytes } from '../../../solana/address.ts';
import { TokenOwners } from './token-owners.ts';

const addressesIn = ({ bytes, offsets }: RawKeys): string[] =>
  offsets.map((offset) => addressFromBytes(bytes.subarray(offset, offset + 32)));

const whole = transactionUpdate({
  before: [{ at: 1, owner: 50, amount: '5' }],
  after: [
    { at: 1, owner: 50, amount: '5' },
    { at: 2, owner: 51, amount: '5' },
  ],
});
const meta = whole.meta as Uint8Array;
const withMeta = (bytes: Uint8Array): RawTransaction => ({ ...whole, meta: bytes });

function owners(transaction: RawTransaction): string[][] {
  const found = new TokenOwners();
  return [addressesIn(found.of(transaction, 'all')), addressesIn(found.of(transaction, 'balanceChanged'))];
}

describe('owners of token accounts', () => {
  it('are empty for invalid meta', () => {
    expect(owners(withMeta(meta.subarray(0, -1)))).toEqual([[], []]);
  });

  it('are empty on the shred stage, which has no meta', () => {
    expect(owners({ ...whole, meta: null })).toEqual([[], []]);
  });

  it('never throw for any bytes', () => {
    const cut = fc.record({ at: fc.nat(meta.length - 1), byte: fc.nat(255), length: fc.nat(meta.length) });
    const broken = cut.map(({ at, byte, length }) => {
      const bytes = Uint8Array.from(meta);
      bytes[at] = byte;
      return bytes.subarray(0, length);
    });
    fc.assert(
      fc.property(fc.oneof(broken, fc.uint8Array({ maxLength: 200 })), (bytes) => {
        for (const list of owners(withMeta(bytes))) expect(Array.isArray(list)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });
});
