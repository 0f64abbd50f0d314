import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockhashFromBytes } from './blockhash.ts';
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
  encodeLastRestartSlot,
  encodeRecentBlockhashes,
  encodeRent,
  encodeRewards,
  encodeSlotHashes,
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
import { epoch, slot } from './units.ts';

const u64 = fc.bigInt(0n, 2n ** 64n - 1n);
const i64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(blockhashFromBytes);
const anySlot = u64.map(slot);
const anyEpoch = u64.map(epoch);

/** Round trip in an account of the real size, and null for a shorter one. */
function promise<T>(
  values: fc.Arbitrary<T>,
  size: number,
  encode: (value: T) => Uint8Array,
  decode: (data: Uint8Array) => T | null,
): void {
  fc.assert(
    fc.property(values, (value) => {
      const data = encode(value);
      expect(data).toHaveLength(size);
      expect(decode(data)).toEqual(value);
      expect(decode(data.subarray(0, 7))).toBeNull();
    }),
    { numRuns: 40 },
  );
}

describe('sysvar codec', () => {
  it('encodes the clock in 40 bytes', () => {
    const clock = fc.record({
      slot: anySlot,
      epochStartTimestamp: i64,
      epoch: anyEpoch,
      leaderScheduleEpoch: anyEpoch,
      unixTimestamp: i64,
    });
    promise(clock, CLOCK_BYTES, encodeClock, decodeClock);
    expect(CLOCK_BYTES).toBe(40);
  });

  it('encodes the epoch schedule in 33 bytes', () => {
    const schedule = fc.record({
      slotsPerEpoch: u64,
      leaderScheduleSlotOffset: u64,
      warmup: fc.boolean(),
      firstNormalEpoch: u64,
      firstNormalSlot: u64,
    });
    promise(schedule, EPOCH_SCHEDULE_BYTES, encodeEpochSchedule, decodeEpochSchedule);
    expect(EPOCH_SCHEDULE_BYTES).toBe(33);
  });

  it('encodes rent in 17 bytes', () => {
    const rent = fc.record({
      lamportsPerByteYear: u64,
      exemptionThreshold: fc.double(),
      burnPercent: fc.nat(255),
    });
    promise(rent, RENT_BYTES, encodeRent, decodeRent);
    expect(Buffer.from(encodeRent(DEFAULT_RENT)).toString('hex')).toBe('980d000000000000000000000000004032');
  });

  it('encodes epoch rewards in 81 bytes with 128-bit points', () => {
    const rewards = fc.record({
      distributionStartingBlockHeight: u64,
      numPartitions: u64,
      parentBlockhash: hash,
      totalPoints: fc.bigInt(0n, 2n ** 128n - 1n),
      totalRewards: u64,
      distributedRewards: u64,
      active: fc.boolean(),
    });
    promise(rewards, EPOCH_REWARDS_BYTES, encodeEpochRewards, decodeEpochRewards);
    expect(EPOCH_REWARDS_BYTES).toBe(81);
  });

  it('encodes the newest 150 blockhashes in 6008 bytes', () => {
    const entry = fc.record({ blockhash: hash, lamportsPerSignature: u64 });
    promise(fc.array(entry, { maxLength: 20 }), 6008, encodeRecentBlockhashes, decodeRecentBlockhashes);
    const many = Array.from({ length: 151 }, (_, n) => ({
      blockhash: blockhashFromBytes(new Uint8Array(32).fill(n)),
      lamportsPerSignature: 5000n,
    }));
    expect(encodeRecentBlockhashes(many)).toHaveLength(RECENT_BLOCKHASHES_BYTES);
    expect(decodeRecentBlockhashes(encodeRecentBlockhashes(many))).toEqual(many.slice(0, 150));
  });

  it('encodes the newest 512 slot hashes in 20488 bytes', () => {
    const entry = fc.record({ slot: anySlot, hash });
    promise(fc.array(entry, { maxLength: 20 }), 20_488, encodeSlotHashes, decodeSlotHashes);
    const many = Array.from({ length: 513 }, (_, n) => ({
      slot: slot(513 - n),
      hash: blockhashFromBytes(new Uint8Array(32)),
    }));
    expect(encodeSlotHashes(many)).toHaveLength(SLOT_HASHES_BYTES);
    expect(decodeSlotHashes(encodeSlotHashes(many))).toEqual(many.slice(0, 512));
  });

  it('encodes the newest 512 stake history epochs in 16392 bytes', () => {
    const entry = fc.record({ epoch: anyEpoch, effective: u64, activating: u64, deactivating: u64 });
    promise(fc.array(entry, { maxLength: 20 }), STAKE_HISTORY_BYTES, encodeStakeHistory, decodeStakeHistory);
    expect(STAKE_HISTORY_BYTES).toBe(16_392);
  });

  it('encodes last restart, fees and rewards', () => {
    promise(anySlot, 8, encodeLastRestartSlot, decodeLastRestartSlot);
    promise(u64, FEES_BYTES, encodeFees, decodeFees);
    promise(fc.double(), REWARDS_BYTES, encodeRewards, decodeRewards);
  });

  it('rejects lists over their limit', () => {
    const lying = new Uint8Array(30_000).fill(0xff, 0, 8);
    for (const decode of [decodeRecentBlockhashes, decodeSlotHashes, decodeStakeHistory, decodeSlotHistory]) {
      expect(decode(lying)).toBeNull();
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

describe('minimum balance', () => {
  it('is two years of rent for account and data', () => {
    expect(minimumBalance(DEFAULT_RENT, 0)).toBe(890_880n);
    expect(minimumBalance(DEFAULT_RENT, 165)).toBe(2_039_280n);
    expect(minimumBalance({ ...DEFAULT_RENT, exemptionThreshold: 0.5 }, 1)).toBe(224_460n);
  });
});
