import { ByteWriter, readOrNull } from '../../base/bytes.ts';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from '../blockhash.ts';
import { type Slot, slot } from '../units.ts';

export const SLOT_HASHES_BYTES = 20_488;
export const SLOT_HASHES_MAX = 512;

/** A slot and the hash of its bank. Source: solana-slot-hashes, `SlotHash`. */
export type SlotHash = Readonly<{ slot: Slot; hash: Blockhash }>;

/**
 * The account's bytes in full size.
 * @param entries - newest first; those beyond 512 are left out.
 */
export function encodeSlotHashes(entries: readonly SlotHash[]): Uint8Array {
  const latest = entries.slice(0, SLOT_HASHES_MAX);
  const writer = new ByteWriter(SLOT_HASHES_BYTES).u64(BigInt(latest.length));
  for (const entry of latest) writer.u64(entry.slot).bytes(blockhashBytes(entry.hash));
  return writer.zeros(SLOT_HASHES_BYTES - writer.length).finish();
}

/** @returns null when the data is no such list. */
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
