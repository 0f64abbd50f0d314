import { ByteWriter, readOrNull } from '../../base/bytes.ts';

export const EPOCH_SCHEDULE_BYTES = 33;

/** Source: solana-epoch-schedule, `EpochSchedule`. */
export type EpochScheduleSysvar = Readonly<{
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

/** @returns null when the data is too short. */
export function decodeEpochSchedule(data: Uint8Array): EpochScheduleSysvar | null {
  return readOrNull(data, (reader) => ({
    slotsPerEpoch: reader.u64(),
    leaderScheduleSlotOffset: reader.u64(),
    warmup: reader.bool(),
    firstNormalEpoch: reader.u64(),
    firstNormalSlot: reader.u64(),
  }));
}
