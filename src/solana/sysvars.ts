import { ByteWriter, readOrNull } from '../base/bytes.ts';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from './blockhash.ts';
import { type Epoch, epoch, type Lamports, lamports, type Slot, slot } from './units.ts';

export const CLOCK_BYTES = 40;

/** Unix seconds. Source: solana-clock, `Clock`. */
type ClockSysvar = Readonly<{
  slot: Slot;
  epochStartTimestamp: bigint;
  epoch: Epoch;
  leaderScheduleEpoch: Epoch;
  unixTimestamp: bigint;
}>;

export function encodeClock(clock: ClockSysvar): Uint8Array {
  return new ByteWriter(CLOCK_BYTES)
    .u64(clock.slot)
    .i64(clock.epochStartTimestamp)
    .u64(clock.epoch)
    .u64(clock.leaderScheduleEpoch)
    .i64(clock.unixTimestamp)
    .finish();
}

export function decodeClock(data: Uint8Array): ClockSysvar | null {
  return readOrNull(data, (reader) => ({
    slot: slot(reader.u64()),
    epochStartTimestamp: reader.i64(),
    epoch: epoch(reader.u64()),
    leaderScheduleEpoch: epoch(reader.u64()),
    unixTimestamp: reader.i64(),
  }));
}

export const EPOCH_SCHEDULE_BYTES = 33;

/** Source: solana-epoch-schedule, `EpochSchedule`. */
type EpochScheduleSysvar = Readonly<{
  slotsPerEpoch: bigint;
  leaderScheduleSlotOffset: bigint;
  warmup: boolean;
  firstNormalEpoch: bigint;
  firstNormalSlot: bigint;
}>;

export function encodeEpochSchedule(schedule: EpochScheduleSysvar): Uint8Array {
  return new ByteWriter(EPOCH_SCHEDULE_BYTES)
    .u64(schedule.slotsPerEpoch)
    .u64(schedule.leaderScheduleSlotOffset)
    .bool(schedule.warmup)
    .u64(schedule.firstNormalEpoch)
    .u64(schedule.firstNormalSlot)
    .finish();
}

export function decodeEpochSchedule(data: Uint8Array): EpochScheduleSysvar | null {
  return readOrNull(data, (reader) => ({
    slotsPerEpoch: reader.u64(),
    leaderScheduleSlotOffset: reader.u64(),
    warmup: reader.bool(),
    firstNormalEpoch: reader.u64(),
    firstNormalSlot: reader.u64(),
  }));
}

export const RENT_BYTES = 17;
/** Fixed cost of an account in bytes. */
const ACCOUNT_OVERHEAD_BYTES = 128n;

/** Source: solana-rent, `Rent`. */
type RentSysvar = Readonly<{
  lamportsPerByteYear: bigint;
  /** Years of rent that make an account exempt. */
  exemptionThreshold: number;
  /** Percent, 0 to 100. */
  burnPercent: number;
}>;

export const DEFAULT_RENT: RentSysvar = {
  lamportsPerByteYear: 3480n,
  exemptionThreshold: 2,
  burnPercent: 50,
};

export function encodeRent(rent: RentSysvar): Uint8Array {
  return new ByteWriter(RENT_BYTES)
    .u64(rent.lamportsPerByteYear)
    .f64(rent.exemptionThreshold)
    .u8(rent.burnPercent)
    .finish();
}

export function decodeRent(data: Uint8Array): RentSysvar | null {
  return readOrNull(data, (reader) => ({
    lamportsPerByteYear: reader.u64(),
    exemptionThreshold: reader.f64(),
    burnPercent: reader.u8(),
  }));
}

/** Rent-exempt balance. Source: solana-rent, `Rent::minimum_balance`. */
export function minimumBalance(rent: RentSysvar, dataLength: number): Lamports {
  const yearly = (ACCOUNT_OVERHEAD_BYTES + BigInt(dataLength)) * rent.lamportsPerByteYear;
  const whole = Number.isInteger(rent.exemptionThreshold);
  return lamports(
    whole
      ? yearly * BigInt(rent.exemptionThreshold)
      : BigInt(Math.trunc(Number(yearly) * rent.exemptionThreshold)),
  );
}

export const FEES_BYTES = 8;

/** Deprecated: lamports per signature, u64. Source: solana-sysvar, `Fees`. */
export function encodeFees(lamportsPerSignature: bigint): Uint8Array {
  return new ByteWriter(FEES_BYTES).u64(lamportsPerSignature).finish();
}

export function decodeFees(data: Uint8Array): bigint | null {
  return readOrNull(data, (reader) => reader.u64());
}

export const REWARDS_BYTES = 16;

/** Deprecated. Source: solana-sysvar, `Rewards`. */
export function encodeRewards(validatorPointValue: number): Uint8Array {
  return new ByteWriter(REWARDS_BYTES).f64(validatorPointValue).zeros(8).finish();
}

export function decodeRewards(data: Uint8Array): number | null {
  return readOrNull(data, (reader) => {
    const value = reader.f64();
    // Unused second number. Source: solana-sysvar `Rewards`.
    reader.skipBytes(8);
    return value;
  });
}

const LAST_RESTART_SLOT_BYTES = 8;

/** 0 without a restart. Source: solana-last-restart-slot. */
export function encodeLastRestartSlot(value: Slot): Uint8Array {
  return new ByteWriter(LAST_RESTART_SLOT_BYTES).u64(value).finish();
}

export function decodeLastRestartSlot(data: Uint8Array): Slot | null {
  return readOrNull(data, (reader) => slot(reader.u64()));
}

export const RECENT_BLOCKHASHES_BYTES = 6008;
export const RECENT_BLOCKHASHES_MAX = 150;

/** Source: solana-sysvar, `recent_blockhashes::Entry`. */
type RecentBlockhash = Readonly<{ blockhash: Blockhash; lamportsPerSignature: bigint }>;

/**
 * Full-size account.
 * @param entries - newest first; at most 150 are written.
 */
export function encodeRecentBlockhashes(entries: readonly RecentBlockhash[]): Uint8Array {
  const latest = entries.slice(0, RECENT_BLOCKHASHES_MAX);
  const writer = new ByteWriter(RECENT_BLOCKHASHES_BYTES).u64(BigInt(latest.length));
  for (const { blockhash, lamportsPerSignature } of latest) {
    writer.bytes(blockhashBytes(blockhash)).u64(lamportsPerSignature);
  }
  return writer.zeros(RECENT_BLOCKHASHES_BYTES - writer.length).finish();
}

export function decodeRecentBlockhashes(data: Uint8Array): RecentBlockhash[] | null {
  return readOrNull(data, (reader) => {
    const count = reader.u64();
    if (count > BigInt(RECENT_BLOCKHASHES_MAX)) return null;
    return Array.from({ length: Number(count) }, () => ({
      blockhash: blockhashFromBytes(reader.bytes(32)),
      lamportsPerSignature: reader.u64(),
    }));
  });
}

export const EPOCH_REWARDS_BYTES = 81;

/** Source: solana-epoch-rewards, `EpochRewards`. */
export type EpochRewards = Readonly<{
  distributionStartingBlockHeight: bigint;
  numPartitions: bigint;
  parentBlockhash: Blockhash;
  /** u128. */
  totalPoints: bigint;
  /** Lamports. */
  totalRewards: bigint;
  /** Lamports. */
  distributedRewards: bigint;
  active: boolean;
}>;

const U64_BITS = 64n;

export function encodeEpochRewards(rewards: EpochRewards): Uint8Array {
  return new ByteWriter(EPOCH_REWARDS_BYTES)
    .u64(rewards.distributionStartingBlockHeight)
    .u64(rewards.numPartitions)
    .bytes(blockhashBytes(rewards.parentBlockhash))
    .u64(BigInt.asUintN(64, rewards.totalPoints))
    .u64(rewards.totalPoints >> U64_BITS)
    .u64(rewards.totalRewards)
    .u64(rewards.distributedRewards)
    .bool(rewards.active)
    .finish();
}

export function decodeEpochRewards(data: Uint8Array): EpochRewards | null {
  return readOrNull(data, (reader) => ({
    distributionStartingBlockHeight: reader.u64(),
    numPartitions: reader.u64(),
    parentBlockhash: blockhashFromBytes(reader.bytes(32)),
    totalPoints: reader.u64() | (reader.u64() << U64_BITS),
    totalRewards: reader.u64(),
    distributedRewards: reader.u64(),
    active: reader.bool(),
  }));
}

export const SLOT_HASHES_BYTES = 20_488;
export const SLOT_HASHES_MAX = 512;

/** Source: solana-slot-hashes, `SlotHash`. */
type SlotHash = Readonly<{ slot: Slot; hash: Blockhash }>;

/**
 * Full-size account.
 * @param entries - newest first; at most 512 are written.
 */
export function encodeSlotHashes(entries: readonly SlotHash[]): Uint8Array {
  const latest = entries.slice(0, SLOT_HASHES_MAX);
  const writer = new ByteWriter(SLOT_HASHES_BYTES).u64(BigInt(latest.length));
  for (const entry of latest) writer.u64(entry.slot).bytes(blockhashBytes(entry.hash));
  return writer.zeros(SLOT_HASHES_BYTES - writer.length).finish();
}

export function decodeSlotHashes(data: Uint8Array): SlotHash[] | null {
  return readOrNull(data, (reader) => {
    const count = reader.u64();
    if (count > BigInt(SLOT_HASHES_MAX)) return null;
    return Array.from({ length: Number(count) }, () => ({
      slot: slot(reader.u64()),
      hash: blockhashFromBytes(reader.bytes(32)),
    }));
  });
}

export const SLOT_HISTORY_BYTES = 131_097;
/** One bit each. */
export const SLOT_HISTORY_MAX = 1024 * 1024;

const BITS_BYTES = SLOT_HISTORY_MAX / 8;
const BLOCKS = BigInt(BITS_BYTES / 8);

/**
 * Bitmap of the last 1,048,576 slots with a block, indexed by slot modulo that. Source: solana-slot-history,
 * `SlotHistory`.
 */
type SlotHistory = Readonly<{
  /** 131,072 bytes; bit n is bit n % 8 of byte n / 8. */
  bits: Uint8Array;
  /** Newest slot plus one. */
  nextSlot: bigint;
}>;

/** History without gaps up to `newestSlot`. */
export function fullSlotHistory(newestSlot: bigint): SlotHistory {
  const bits = new Uint8Array(BITS_BYTES);
  const count = Number(newestSlot < BigInt(SLOT_HISTORY_MAX) ? newestSlot + 1n : BigInt(SLOT_HISTORY_MAX));
  bits.fill(0xff, 0, count >> 3);
  if (count % 8 !== 0) bits[count >> 3] = (1 << (count % 8)) - 1;
  return { bits, nextSlot: newestSlot + 1n };
}

/** Vector of 64-bit blocks, length in bits, next slot. */
export function encodeSlotHistory(history: SlotHistory): Uint8Array {
  return new ByteWriter(SLOT_HISTORY_BYTES)
    .u8(1)
    .u64(BLOCKS)
    .bytes(history.bits)
    .u64(BigInt(SLOT_HISTORY_MAX))
    .u64(history.nextSlot)
    .finish();
}

export function decodeSlotHistory(data: Uint8Array): SlotHistory | null {
  return readOrNull(data, (reader) => {
    if (reader.u8() !== 1 || reader.u64() !== BLOCKS) return null;
    const bits = reader.bytes(BITS_BYTES);
    if (reader.u64() !== BigInt(SLOT_HISTORY_MAX)) return null;
    return { bits, nextSlot: reader.u64() };
  });
}

export const STAKE_HISTORY_BYTES = 16_392;
export const STAKE_HISTORY_MAX = 512;

/** Lamports. Source: solana-stake-history, `StakeHistoryEntry`. */
export type StakeHistoryEntry = Readonly<{
  epoch: Epoch;
  effective: bigint;
  activating: bigint;
  deactivating: bigint;
}>;

/**
 * Full-size account.
 * @param entries - newest first; at most 512 are written.
 */
export function encodeStakeHistory(entries: readonly StakeHistoryEntry[]): Uint8Array {
  const latest = entries.slice(0, STAKE_HISTORY_MAX);
  const writer = new ByteWriter(STAKE_HISTORY_BYTES).u64(BigInt(latest.length));
  for (const entry of latest) {
    writer.u64(entry.epoch).u64(entry.effective).u64(entry.activating).u64(entry.deactivating);
  }
  return writer.zeros(STAKE_HISTORY_BYTES - writer.length).finish();
}

export function decodeStakeHistory(data: Uint8Array): StakeHistoryEntry[] | null {
  return readOrNull(data, (reader) => {
    const count = reader.u64();
    if (count > BigInt(STAKE_HISTORY_MAX)) return null;
    return Array.from({ length: Number(count) }, () => ({
      epoch: epoch(reader.u64()),
      effective: reader.u64(),
      activating: reader.u64(),
      deactivating: reader.u64(),
    }));
  });
}
