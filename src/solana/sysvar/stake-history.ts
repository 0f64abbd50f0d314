import { ByteWriter, readOrNull } from '../../base/bytes.ts';
import { type Epoch, epoch } from '../units.ts';

export const STAKE_HISTORY_BYTES = 16_392;
export const STAKE_HISTORY_MAX = 512;

/** All stake of an epoch, in lamports. Source: solana-stake-history, `StakeHistoryEntry`. */
export type StakeHistoryEntry = Readonly<{
  epoch: Epoch;
  effective: bigint;
  activating: bigint;
  deactivating: bigint;
}>;

/**
 * The account's bytes in full size.
 * @param entries - newest first; those beyond 512 are left out.
 */
export function encodeStakeHistory(entries: readonly StakeHistoryEntry[]): Uint8Array {
  const latest = entries.slice(0, STAKE_HISTORY_MAX);
  const writer = new ByteWriter(STAKE_HISTORY_BYTES).u64(BigInt(latest.length));
  for (const entry of latest) {
    writer.u64(entry.epoch).u64(entry.effective).u64(entry.activating).u64(entry.deactivating);
  }
  return writer.zeros(STAKE_HISTORY_BYTES - writer.length).finish();
}

/** @returns null when the data is no such list. */
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
