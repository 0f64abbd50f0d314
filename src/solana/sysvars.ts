import { BLOCKHASH_BYTES } from './blockhash.ts';
import {
  accountCodec,
  bool,
  branded,
  bytes,
  type Codec,
  f64,
  hash,
  InvalidEncoding,
  i64,
  list,
  struct,
  u8,
  u64,
  u128,
} from './codec.ts';
import { type Epoch, type Lamports, lamports, type Slot } from './units.ts';

const slot = branded<Slot>(u64);
const epoch = branded<Epoch>(u64);

export const CLOCK_BYTES = 40;

/** Timestamps are in Unix seconds. Source: solana-clock, `Clock`. */
export const { encode: encodeClock, decode: decodeClock } = accountCodec(
  CLOCK_BYTES,
  struct({
    ...{ slot, epochStartTimestamp: i64, epoch, leaderScheduleEpoch: epoch, unixTimestamp: i64 },
  }),
);

export const EPOCH_SCHEDULE_BYTES = 33;

/** Source: solana-epoch-schedule, `EpochSchedule`. */
export const { encode: encodeEpochSchedule, decode: decodeEpochSchedule } = accountCodec(
  EPOCH_SCHEDULE_BYTES,
  struct({
    ...{ slotsPerEpoch: u64, leaderScheduleSlotOffset: u64, warmup: bool },
    ...{ firstNormalEpoch: u64, firstNormalSlot: u64 },
  }),
);

export const RENT_BYTES = 17;
/** Bytes charged per account on top of its data. */
const ACCOUNT_OVERHEAD_BYTES = 128n;

/**
 * An account is rent-exempt if it holds `exemptionThreshold` years of rent; `burnPercent` is 0 to 100.
 * Source: solana-rent, `Rent`.
 */
const rent = struct({ lamportsPerByteYear: u64, exemptionThreshold: f64, burnPercent: u8 });
type RentSysvar = ReturnType<typeof rent.read>;

export const DEFAULT_RENT: RentSysvar = {
  lamportsPerByteYear: 3480n,
  exemptionThreshold: 2,
  burnPercent: 50,
};

export const { encode: encodeRent, decode: decodeRent } = accountCodec(RENT_BYTES, rent);

/** Source: solana-rent, `Rent::minimum_balance`. */
export function minimumBalance(rent: RentSysvar, dataLength: number): Lamports {
  const yearly = (ACCOUNT_OVERHEAD_BYTES + BigInt(dataLength)) * rent.lamportsPerByteYear;
  const isWhole = Number.isInteger(rent.exemptionThreshold);
  return lamports(
    isWhole
      ? yearly * BigInt(rent.exemptionThreshold)
      : BigInt(Math.trunc(Number(yearly) * rent.exemptionThreshold)),
  );
}

export const FEES_BYTES = 8;

/** Deprecated: lamports per signature. Source: solana-sysvar, `Fees`. */
export const { encode: encodeFees, decode: decodeFees } = accountCodec(FEES_BYTES, u64);

export const REWARDS_BYTES = 16;

/** Deprecated: the validator point value, then an unused number. Source: solana-sysvar, `Rewards`. */
export const { encode: encodeRewards, decode: decodeRewards } = accountCodec<number>(REWARDS_BYTES, {
  read: (reader) => [f64.read(reader), f64.read(reader)][0] as number,
  write: f64.write,
});

const LAST_RESTART_SLOT_BYTES = 8;

/** 0 if the cluster has never restarted. Source: solana-last-restart-slot. */
export const { encode: encodeLastRestartSlot, decode: decodeLastRestartSlot } = accountCodec(
  LAST_RESTART_SLOT_BYTES,
  slot,
);

export const RECENT_BLOCKHASHES_BYTES = 6008;
export const RECENT_BLOCKHASHES_MAX = 150;

const recentBlockhashes = <Hash>(blockhash: Codec<Hash>) =>
  accountCodec(
    RECENT_BLOCKHASHES_BYTES,
    list(struct({ blockhash, lamportsPerSignature: u64 }), RECENT_BLOCKHASHES_MAX),
  );

/** Newest first; at most 150 are written. Source: solana-sysvar, `recent_blockhashes::Entry`. */
export const encodeRecentBlockhashes = recentBlockhashes(bytes(BLOCKHASH_BYTES)).encode;
export const decodeRecentBlockhashes = recentBlockhashes(hash).decode;

export const EPOCH_REWARDS_BYTES = 81;

/** Rewards are in lamports. Source: solana-epoch-rewards, `EpochRewards`. */
const epochRewards = struct({
  ...{ distributionStartingBlockHeight: u64, numPartitions: u64, parentBlockhash: hash },
  ...{ totalPoints: u128, totalRewards: u64, distributedRewards: u64, active: bool },
});
export type EpochRewards = ReturnType<typeof epochRewards.read>;

export const { encode: encodeEpochRewards, decode: decodeEpochRewards } = accountCodec(
  EPOCH_REWARDS_BYTES,
  epochRewards,
);

export const SLOT_HASHES_BYTES = 20_488;
export const SLOT_HASHES_MAX = 512;

const slotHashes = <Hash>(hash: Codec<Hash>) =>
  accountCodec(SLOT_HASHES_BYTES, list(struct({ slot, hash }), SLOT_HASHES_MAX));

/** Newest first; at most 512 are written. Source: solana-slot-hashes, `SlotHash`. */
export const encodeSlotHashes = slotHashes(bytes(BLOCKHASH_BYTES)).encode;
export const decodeSlotHashes = slotHashes(hash).decode;

export const SLOT_HISTORY_BYTES = 131_097;
export const SLOT_HISTORY_MAX = 1024 * 1024;

const BITS_BYTES = SLOT_HISTORY_MAX / 8;
const BLOCKS = BigInt(BITS_BYTES / 8);

/** Whether each of the last 1,048,576 slots has a block. Source: solana-slot-history. */
type SlotHistory = Readonly<{
  /** 131,072 bytes. Slot s has bit n = s % 1,048,576, which is bit n % 8 of byte ⌊n / 8⌋. */
  bits: Uint8Array;
  /** Newest slot plus one. */
  nextSlot: bigint;
}>;

/** History in which every slot up to `newestSlot` has a block. */
export function fullSlotHistory(newestSlot: bigint): SlotHistory {
  const bits = new Uint8Array(BITS_BYTES);
  const count = Number(newestSlot < BigInt(SLOT_HISTORY_MAX) ? newestSlot + 1n : BigInt(SLOT_HISTORY_MAX));
  bits.fill(0xff, 0, count >> 3);
  if (count % 8 !== 0) bits[count >> 3] = (1 << (count % 8)) - 1;
  return { bits, nextSlot: newestSlot + 1n };
}

/** Layout: optional vector of 64-bit blocks, length in bits, next slot. */
export const { encode: encodeSlotHistory, decode: decodeSlotHistory } = accountCodec<SlotHistory>(
  SLOT_HISTORY_BYTES,
  {
    read: (reader) => {
      const isKnown = reader.u8() === 1 && reader.u64() === BLOCKS;
      const bits = reader.bytes(BITS_BYTES);
      if (!isKnown || reader.u64() !== BigInt(SLOT_HISTORY_MAX))
        throw new InvalidEncoding('invalid slot history length');
      return { bits, nextSlot: reader.u64() };
    },
    write: (writer, { bits, nextSlot }) =>
      writer.u8(1).u64(BLOCKS).bytes(bits).u64(BigInt(SLOT_HISTORY_MAX)).u64(nextSlot),
  },
);

export const STAKE_HISTORY_BYTES = 16_392;
export const STAKE_HISTORY_MAX = 512;

/** Amounts are in lamports. Source: solana-stake-history, `StakeHistoryEntry`. */
const stakeHistoryEntry = struct({ epoch, effective: u64, activating: u64, deactivating: u64 });
export type StakeHistoryEntry = ReturnType<typeof stakeHistoryEntry.read>;

/** Newest first; at most 512 are written. */
export const { encode: encodeStakeHistory, decode: decodeStakeHistory } = accountCodec(
  STAKE_HISTORY_BYTES,
  list(stakeHistoryEntry, STAKE_HISTORY_MAX),
);
