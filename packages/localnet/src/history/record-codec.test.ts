import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes.ts';
import { addressBytes, addressFromBytes } from '../../../../src/solana/address.ts';
import { blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { Keypair } from '../../../../src/solana/ed25519.ts';
import { rewardTypes } from '../../../../src/solana/transaction/transaction-meta.ts';
import { lamports, U64_MAX } from '../../../../src/solana/units.ts';
import { faucetTransfer } from '../bank/faucet.ts';
import type { AccountWriter, SlotTrace } from '../bank/slot-trace.ts';
import type { RecordedMeta } from '../bank/token-balances.ts';
import { decodeBlock, decodeChanges, decodeHeader, decodeRecord, encodeRecord } from './record-codec.ts';
import type { SlotRecord } from './slot-record.ts';
import { CorruptRecord } from './transaction-codec.ts';

const bytes = (max: number) => fc.uint8Array({ maxLength: max });
const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressFromBytes);
const blockhash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(blockhashFromBytes);
const u64 = fc.bigInt(0n, U64_MAX);
const balances = fc.array(u64.map(lamports), { maxLength: 4 });
const instruction = { programIdIndex: fc.nat(255), accounts: bytes(5), data: bytes(9) };
const tokenBalance = fc.record({
  accountIndex: fc.nat(255),
  mint: address,
  owner: address,
  programId: address,
  amount: u64,
  decimals: fc.nat(255),
});
const meta: fc.Arbitrary<RecordedMeta> = fc
  .record({
    err: fc.constantFrom(
      null,
      'AccountNotFound',
      { InstructionError: [3, { Custom: 4_294_967_295 }] as const },
      { InsufficientFundsForRent: { account_index: 2 } },
    ),
    fee: u64.map(lamports),
    preBalances: balances,
    postBalances: balances,
    innerInstructions: fc.array(
      fc.record({
        index: fc.nat(255),
        instructions: fc.array(fc.record({ ...instruction, stackHeight: fc.nat(9) }), { maxLength: 3 }),
      }),
      { maxLength: 2 },
    ),
    logMessages: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 }),
    preTokenBalances: fc.array(tokenBalance, { maxLength: 2 }),
    postTokenBalances: fc.array(tokenBalance, { maxLength: 2 }),
    rewards: fc.constant([] as const),
    loadedAddresses: fc.record({
      writable: fc.array(address, { maxLength: 2 }),
      readonly: fc.array(address, { maxLength: 2 }),
    }),
    returnData: fc.option(fc.record({ programId: address, data: bytes(9) })),
    computeUnitsConsumed: u64,
    costUnits: u64,
  })
  .map((recorded) =>
    typeof recorded.err === 'string' ? { ...recorded, innerInstructions: null, logMessages: null } : recorded,
  );
const account = fc.record({
  lamports: u64.map(lamports),
  data: bytes(50),
  owner: address,
  executable: fc.boolean(),
  rentEpoch: u64,
});

const payer = Keypair.fromSeed(new Uint8Array(32).fill(7));
const transaction = fc
  .tuple(address, u64, blockhash)
  .map(([to, amount, hash]) => faucetTransfer(payer, to, lamports(amount), hash));

const trace = (accounts: SlotRecord['accounts']): fc.Arbitrary<SlotTrace> => {
  const writer = fc.record({ transaction: fc.option(fc.nat(99)), sequence: fc.nat(0xffff_ffff) });
  const mixin = fc.uint8Array({ minLength: 32, maxLength: 32 });
  return fc.record({
    rejected: fc.array(fc.tuple(fc.nat(99), mixin), { maxLength: 3 }).map((rejected) => new Map(rejected)),
    writers: fc
      .array(writer, { minLength: accounts.size, maxLength: accounts.size })
      .map((writers) => new Map([...accounts.keys()].map((key, n) => [key, writers[n] as AccountWriter]))),
  });
};

const untraced = fc.record({
  header: fc.record({
    slot: fc.maxSafeNat(),
    blockhash,
    previousBlockhash: blockhash,
    blockTime: fc.maxSafeInteger(),
    epochStartTime: fc.maxSafeInteger(),
    transactionCount: u64,
  }),
  transactions: fc.array(fc.record({ transaction, meta }), { maxLength: 3 }),
  rewards: fc.array(
    fc.record({
      pubkey: address,
      lamports: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
      postBalance: u64.map(lamports),
      rewardType: fc.option(fc.constantFrom(...rewardTypes)),
      commission: fc.option(fc.nat(100)),
    }),
    { maxLength: 2 },
  ),
  numRewardPartitions: fc.option(fc.bigInt(1n, 2n ** 64n - 1n), { nil: undefined }),
  accounts: fc
    .array(fc.tuple(address, fc.option(account)), { maxLength: 4 })
    .map((entries) => new Map(entries)),
});

const record: fc.Arbitrary<SlotRecord> = untraced.chain((rest) =>
  trace(rest.accounts).map((made) => ({ ...rest, trace: made })),
);

/** Slot, two hashes, two times, count. */
const HEADER_BYTES = 8 + 32 + 32 + 8 + 8 + 8;

describe('slot record', () => {
  it('round-trips in whole and in part', () => {
    fc.assert(
      fc.property(record, (original) => {
        const encoded = encodeRecord(original);
        const { header, transactions, rewards, numRewardPartitions, accounts } = original;
        expect(decodeRecord(encoded)).toEqual(original);
        expect(decodeBlock(encoded)).toEqual({ header, transactions, rewards, numRewardPartitions });
        expect(decodeChanges(encoded)).toEqual({ header, accounts });
        expect(decodeHeader(encoded)).toEqual(header);
      }),
      { numRuns: 60 },
    );
  });

  const bare = (): SlotRecord => {
    const [original] = fc.sample(record, { numRuns: 1, seed: 5 }) as [SlotRecord];
    return { ...original, rewards: [], numRewardPartitions: undefined };
  };

  it('without rewards decodes from before rewards were stored', () => {
    // Without rewards nothing is written, as in old records.
    expect(decodeRecord(encodeRecord(bare()))).toEqual(bare());
  });

  it('with untyped rewards decodes as fees', () => {
    const encoded = encodeRecord(bare());
    const blockBytes = new DataView(encoded.buffer, encoded.byteOffset).getUint32(HEADER_BYTES, true);
    const blockEnd = HEADER_BYTES + 4 + blockBytes;
    const fee = new ByteWriter().u32(1).bytes(addressBytes(payer.address)).i64(5n).u64(70n).finish();
    const head = Buffer.from(encoded.subarray(0, blockEnd));
    head.writeUInt32LE(blockBytes + fee.length, HEADER_BYTES);
    const old = Buffer.concat([head, fee, encoded.subarray(blockEnd)]);
    const paid = { pubkey: payer.address, lamports: 5n, postBalance: lamports(70) };
    expect(decodeRecord(old)).toEqual({
      ...bare(),
      rewards: [{ ...paid, rewardType: 'Fee', commission: null }],
    });
  });

  it('without trace decodes from before traces were stored', () => {
    const untraced = { ...bare(), trace: null };
    expect(decodeRecord(encodeRecord(untraced))).toEqual(untraced);
  });

  it('holds no reference to the read bytes', () => {
    const [original] = fc.sample(record, { numRuns: 1, seed: 5 }) as [SlotRecord];
    const encoded = Buffer.from(encodeRecord(original));
    const decoded = decodeRecord(encoded);
    encoded.fill(0);
    expect(decoded).toEqual(original);
  });

  it('is corrupt when truncated at any byte', () => {
    const [original] = fc.sample(record, { numRuns: 1, seed: 3 }) as [SlotRecord];
    const encoded = encodeRecord(original);
    // Older records lack the trace.
    const older = encodeRecord({ ...original, trace: null }).length;
    for (let length = 0; length < encoded.length; length++) {
      if (length === older) continue;
      expect(() => decodeRecord(encoded.subarray(0, length))).toThrow(CorruptRecord);
    }
  });
});
