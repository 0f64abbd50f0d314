import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, writeJson } from '../../base/json.ts';
import { addressFromBytes } from '../address.ts';
import { rewardTypes, type TransactionMeta } from '../transaction/transaction-meta.ts';
import { lamports, U64_MAX } from '../units.ts';
import { MalformedJson } from './read-json.ts';
import { readMeta } from './read-ui-meta.ts';
import { encodeMeta } from './ui-meta.ts';

const u8 = fc.integer({ min: 0, max: 255 });
const u64 = fc.oneof(fc.bigInt({ min: 0n, max: U64_MAX }), fc.constantFrom(0n, 2n ** 53n, U64_MAX));
const money = u64.map(lamports);
const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressFromBytes);
const bytes = fc.uint8Array({ maxLength: 40 });
const orNull = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });

const inner = fc.record({
  programIdIndex: u8,
  accounts: bytes,
  data: bytes,
  stackHeight: orNull(u8),
});
const tokenBalance = fc.record({
  accountIndex: u8,
  mint: address,
  owner: orNull(address),
  programId: orNull(address),
  amount: u64,
  decimals: u8,
});
const reward = fc.record({
  pubkey: address,
  lamports: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  postBalance: money,
  rewardType: orNull(fc.constantFrom(...rewardTypes)),
  commission: orNull(u8),
});
const err = fc.constantFrom(
  'AccountNotFound',
  { InstructionError: [2, { Custom: 4_294_967_295 }] as const },
  { InsufficientFundsForRent: { account_index: 3 } },
);

const meta: fc.Arbitrary<TransactionMeta> = fc.record({
  err: orNull(err),
  fee: money,
  preBalances: fc.array(money),
  postBalances: fc.array(money),
  innerInstructions: orNull(
    fc.array(fc.record({ index: u8, instructions: fc.array(inner, { maxLength: 3 }) }), { maxLength: 3 }),
  ),
  logMessages: orNull(fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 })),
  preTokenBalances: orNull(fc.array(tokenBalance, { maxLength: 3 })),
  postTokenBalances: orNull(fc.array(tokenBalance, { maxLength: 3 })),
  rewards: orNull(fc.array(reward, { maxLength: 2 })),
  loadedAddresses: fc.record({
    writable: fc.array(address, { maxLength: 2 }),
    readonly: fc.array(address, { maxLength: 2 }),
  }),
  returnData: orNull(fc.record({ programId: address, data: bytes })),
  computeUnitsConsumed: orNull(u64),
  costUnits: orNull(u64),
});

const shown = (value: TransactionMeta): string =>
  writeJson(encodeMeta(value, { parsedKeys: null, showRewards: true }));

describe('readMeta', () => {
  it('decodes the output of encodeMeta exactly', () => {
    fc.assert(
      fc.property(meta, (value) => {
        const read = readMeta(parseJson(shown(value)));
        expect(shown(read)).toBe(shown(value));
        expect(read.fee).toBe(value.fee);
        expect(read.preBalances).toEqual(value.preBalances);
        expect(read.preTokenBalances).toEqual(value.preTokenBalances);
        expect(read.rewards).toEqual(value.rewards);
      }),
    );
  });

  it('does not reveal values in errors', () => {
    expect(() => readMeta({ fee: 'secret' })).toThrow('not a fee');
    expect(() => readMeta({ fee: -1, preBalances: [], postBalances: [] })).toThrow(MalformedJson);
  });
});
