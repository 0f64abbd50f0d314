import { ByteWriter, readOrNull } from '../../base/bytes.ts';
import { type Slot, slot } from '../units.ts';

export const LAST_RESTART_SLOT_BYTES = 8;

/** The slot of the last cluster restart, 0 when there was none. Source: solana-last-restart-slot. */
export function encodeLastRestartSlot(value: Slot): Uint8Array {
  return new ByteWriter(LAST_RESTART_SLOT_BYTES).u64(value).finish();
}

/** @returns null when the data is too short. */
export function decodeLastRestartSlot(data: Uint8Array): Slot | null {
  return readOrNull(data, (reader) => slot(reader.u64()));
}
