import { ByteWriter, readOrNull } from '../../base/bytes.ts';

export const SLOT_HISTORY_BYTES = 131_097;
/** Slots remembered, one bit each. */
export const SLOT_HISTORY_MAX = 1024 * 1024;

const BITS_BYTES = SLOT_HISTORY_MAX / 8;
const BLOCKS = BigInt(BITS_BYTES / 8);

/**
 * Which of the last 1,048,576 slots had a block: the bit of a slot is its number modulo that.
 * Source: solana-slot-history, `SlotHistory`.
 */
export type SlotHistory = Readonly<{
  /** 131,072 bytes; bit n is bit n % 8 of byte n / 8. */
  bits: Uint8Array;
  /** One above the newest slot. */
  nextSlot: bigint;
}>;

/** The history of a ledger in which every slot from 0 to `newestSlot` had a block. */
export function fullSlotHistory(newestSlot: bigint): SlotHistory {
  const bits = new Uint8Array(BITS_BYTES);
  const count = Number(newestSlot < BigInt(SLOT_HISTORY_MAX) ? newestSlot + 1n : BigInt(SLOT_HISTORY_MAX));
  bits.fill(0xff, 0, count >> 3);
  if (count % 8 !== 0) bits[count >> 3] = (1 << (count % 8)) - 1;
  return { bits, nextSlot: newestSlot + 1n };
}

/** The account's bytes: a present vector of 64-bit blocks, its length in bits, the next slot. */
export function encodeSlotHistory(history: SlotHistory): Uint8Array {
  return new ByteWriter(SLOT_HISTORY_BYTES)
    .u8(1)
    .u64(BLOCKS)
    .bytes(history.bits)
    .u64(BigInt(SLOT_HISTORY_MAX))
    .u64(history.nextSlot)
    .finish();
}

/** @returns null when the data is no such history. */
export function decodeSlotHistory(data: Uint8Array): SlotHistory | null {
  return readOrNull(data, (reader) => {
    if (reader.u8() !== 1 || reader.u64() !== BLOCKS) return null;
    const bits = reader.bytes(BITS_BYTES);
    if (reader.u64() !== BigInt(SLOT_HISTORY_MAX)) return null;
    return { bits, nextSlot: reader.u64() };
  });
}
