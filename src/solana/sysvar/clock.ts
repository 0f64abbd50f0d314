import { ByteWriter, readOrNull } from '../../base/bytes.ts';
import { type Epoch, epoch, type Slot, slot } from '../units.ts';

export const CLOCK_BYTES = 40;

/** Timestamps are Unix seconds. Source: solana-clock, `Clock`. */
export type ClockSysvar = Readonly<{
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

/** @returns null when the data is too short. */
export function decodeClock(data: Uint8Array): ClockSysvar | null {
  return readOrNull(data, (reader) => ({
    slot: slot(reader.u64()),
    epochStartTimestamp: reader.i64(),
    epoch: epoch(reader.u64()),
    leaderScheduleEpoch: epoch(reader.u64()),
    unixTimestamp: reader.i64(),
  }));
}
