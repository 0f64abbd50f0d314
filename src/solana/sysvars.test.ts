import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from './blockhash.ts';
import {
  CLOCK_BYTES,
  DEFAULT_RENT,
  decodeClock,
  decodeEpochRewards,
  decodeEpochSchedule,
  decodeFees,
  decodeLastRestartSlot,
  decodeRecentBlockhashes,
  decodeRent,
  decodeRewards,
  decodeSlotHashes,
  decodeSlotHistory,
  decodeStakeHistory,
  EPOCH_REWARDS_BYTES,
  EPOCH_SCHEDULE_BYTES,
  encodeClock,
  encodeEpochRewards,
  encodeEpochSchedule,
  encodeFees,
  encodeSlotHashes as encodeHashes,
  encodeLastRestartSlot,
  encodeRecentBlockhashes as encodeRecentHashes,
  encodeRent,
  encodeRewards,
  encodeSlotHistory,
  encodeStakeHistory,
  FEES_BYTES,
  fullSlotHistory,
  minimumBalance,
  RECENT_BLOCKHASHES_BYTES,
  RENT_BYTES,
  REWARDS_BYTES,
  SLOT_HASHES_BYTES,
  SLOT_HISTORY_BYTES,
  SLOT_HISTORY_MAX,
  STAKE_HISTORY_BYTES,
} from './sysvars.ts';
import { epoch, type Slot, slot } from './units.ts';

type RecentHash = Readonly<{ blockhash: Blockhash; lamportsPerSignature: bigint }>;
const encodeRecentBlockhashes = (entries: readonly RecentHash[]) =>
  encodeRecentHashes(entries.map((entry) => ({ ...entry, blockhash: blockhashBytes(entry.blockhash) })));
const encodeSlotHashes = (entries: readonly Readonly<{ slot: Slot; hash: Blockhash }>[]) =>
  encodeHashes(entries.map((entry) => ({ ...entry, hash: blockhashBytes(entry.hash) })));

const u64 = fc.bigInt(0n, 2n ** 64n - 1n);
const i64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(blockhashFromBytes);
const anySlot = u64.map(slot);
const anyEpoch = u64.map(epoch);

type Codec = readonly [
  name: string,
  values: fc.Arbitrary<unknown>,
  size: number,
  declaredSize: number,
  encode: (value: never) => Uint8Array,
  decode: (data: Uint8Array) => unknown,
];

const listOf = (members: Record<string, fc.Arbitrary<unknown>>) =>
  fc.array(fc.record(members), { maxLength: 20 });

const clock = { slot: anySlot, epochStartTimestamp: i64, epoch: anyEpoch, leaderScheduleEpoch: anyEpoch };
const schedule = { slotsPerEpoch: u64, leaderScheduleSlotOffset: u64, warmup: fc.boolean() };
const rent = { lamportsPerByteYear: u64, exemptionThreshold: fc.double(), burnPercent: fc.nat(255) };
const epochRewards = fc.record({
  ...{ distributionStartingBlockHeight: u64, numPartitions: u64, parentBlockhash: hash },
  totalPoints: fc.bigInt(0n, 2n ** 128n - 1n),
  ...{ totalRewards: u64, distributedRewards: u64, active: fc.boolean() },
});
const stakes = listOf({ epoch: anyEpoch, effective: u64, activating: u64, deactivating: u64 });
const firstNormal = { firstNormalEpoch: u64, firstNormalSlot: u64 };

const codecs: readonly Codec[] = [
  ['clock', fc.record({ ...clock, unixTimestamp: i64 }), 40, CLOCK_BYTES, encodeClock, decodeClock],
  [
    ...(['epoch schedule', fc.record({ ...schedule, ...firstNormal }), 33, EPOCH_SCHEDULE_BYTES] as const),
    ...([encodeEpochSchedule, decodeEpochSchedule] as const),
  ],
  ['rent', fc.record(rent), 17, RENT_BYTES, encodeRent, decodeRent],
  ['epoch rewards', epochRewards, 81, EPOCH_REWARDS_BYTES, encodeEpochRewards, decodeEpochRewards],
  [
    ...(['recent blockhashes', listOf({ blockhash: hash, lamportsPerSignature: u64 }), 6008] as const),
    ...([RECENT_BLOCKHASHES_BYTES, encodeRecentBlockhashes, decodeRecentBlockhashes] as const),
  ],
  [
    ...(['slot hashes', listOf({ slot: anySlot, hash }), 20_488, SLOT_HASHES_BYTES] as const),
    ...([encodeSlotHashes, decodeSlotHashes] as const),
  ],
  ['stake history', stakes, 16_392, STAKE_HISTORY_BYTES, encodeStakeHistory, decodeStakeHistory],
  ['last restart', anySlot, 8, 8, encodeLastRestartSlot, decodeLastRestartSlot],
  ['fees', u64, 8, FEES_BYTES, encodeFees, decodeFees],
  ['rewards', fc.double(), 16, REWARDS_BYTES, encodeRewards, decodeRewards],
];

describe('sysvar codec', () => {
  it.each(codecs)('of %s round-trips in its real size', (_, values, size, declared, encode, decode) => {
    expect(declared).toBe(size);
    fc.assert(
      fc.property(values, (value) => {
        const data = encode(value as never);
        expect(data).toHaveLength(size);
        expect(decode(data)).toEqual(value);
        expect(decode(data.subarray(0, 7))).toBeNull();
      }),
      { numRuns: 40 },
    );
  });

  it('encodes the default rent', () => {
    expect(Buffer.from(encodeRent(DEFAULT_RENT)).toString('hex')).toBe('980d000000000000000000000000004032');
  });

  it('keeps the newest 150 blockhashes and 512 slot hashes', () => {
    const hashOf = (n: number) => blockhashFromBytes(new Uint8Array(32).fill(n));
    const recent = Array.from({ length: 151 }, (_, n) => ({
      ...{ blockhash: hashOf(n), lamportsPerSignature: 5000n },
    }));
    const slots = Array.from({ length: 513 }, (_, n) => ({ slot: slot(513 - n), hash: hashOf(0) }));
    expect(decodeRecentBlockhashes(encodeRecentBlockhashes(recent))).toEqual(recent.slice(0, 150));
    expect(decodeSlotHashes(encodeSlotHashes(slots))).toEqual(slots.slice(0, 512));
  });

  it('rejects lists over their limit', () => {
    const overlong = new Uint8Array(30_000).fill(0xff, 0, 8);
    for (const decode of [decodeRecentBlockhashes, decodeSlotHashes, decodeStakeHistory, decodeSlotHistory]) {
      expect(decode(overlong)).toBeNull();
    }
  });
});

describe('slot history', () => {
  it('round-trips in 131097 bytes', () => {
    const history = fullSlotHistory(77n);
    expect(encodeSlotHistory(history)).toHaveLength(SLOT_HISTORY_BYTES);
    expect(SLOT_HISTORY_BYTES).toBe(131_097);
    expect(decodeSlotHistory(encodeSlotHistory(history))).toEqual(history);
  });

  it('has a bit for each slot of a ledger without gaps', () => {
    const countBits = (bytes: Uint8Array): number =>
      bytes.reduce((sum, byte) => sum + (byte.toString(2).match(/1/g)?.length ?? 0), 0);
    for (const newest of [0n, 7n, 8n, 1000n]) {
      const { bits, nextSlot } = fullSlotHistory(newest);
      expect(countBits(bits)).toBe(Number(newest) + 1);
      expect(nextSlot).toBe(newest + 1n);
      const last = Number(newest);
      expect(((bits[last >> 3] ?? 0) >> (last & 7)) & 1).toBe(1);
    }
    expect(countBits(fullSlotHistory(BigInt(SLOT_HISTORY_MAX) * 3n).bits)).toBe(SLOT_HISTORY_MAX);
  });
});

it('minimum balance is two years of rent for account and data', () => {
  expect(minimumBalance(DEFAULT_RENT, 0)).toBe(890_880n);
  expect(minimumBalance(DEFAULT_RENT, 165)).toBe(2_039_280n);
  expect(minimumBalance({ ...DEFAULT_RENT, exemptionThreshold: 0.5 }, 1)).toBe(224_460n);
});
