import { slot as asSlot, type Slot } from '../units.ts';
import {
  DATA_COMPLETE,
  DATA_FLAGS_OFFSET,
  DATA_HEADERS_BYTES,
  DATA_PARENT_OFFSET,
  DATA_SIZE_OFFSET,
  FEC_SET_INDEX_OFFSET,
  FEC_SET_SHREDS_MAX,
  INDEX_OFFSET,
  LAST_IN_SLOT,
  NUM_CODE_OFFSET,
  NUM_DATA_OFFSET,
  POSITION_OFFSET,
  REFERENCE_TICK_MASK,
  SHRED_PACKET_MAX_BYTES,
  SHREDS_PER_SLOT_MAX,
  type ShredLayout,
  SLOT_OFFSET,
  shredLayout,
  VARIANT_OFFSET,
  VERSION_OFFSET,
} from './shred-layout.ts';

/**
 * `Length`: the packet is too short for the variant or too long. `Index`: the index exceeds the slot's limit or is
 * outside the set. `ParentOffset`: the parent would be the slot itself or negative. `Flags`: the bit for the last shred
 * in a slot is set without DATA_COMPLETE. `Size`: the payload ends outside the shred's body. `FecSet`: the set's counts
 * are impossible, or the position is outside the set.
 */
export type ShredFault = 'Length' | 'Variant' | 'Index' | 'ParentOffset' | 'Flags' | 'Size' | 'FecSet';

type Common = Readonly<{
  layout: ShredLayout;
  slot: Slot;
  /** Index among the slot's data shreds or code shreds. */
  index: number;
  version: number;
  fecSetIndex: number;
  /** Index of the Merkle leaf: position in the set, in which the data shreds come first. */
  leafIndex: number;
  /** View of the packet, without trailing bytes. For a truncated legacy shred: a zero-padded copy. */
  bytes: Uint8Array;
}>;

export type DataShred = Common &
  Readonly<{
    kind: 'data';
    /** Distance to the parent in slots; 0 only in slot 0. */
    parentOffset: number;
    referenceTick: number;
    /** The shred ends a `Vec<Entry>`. */
    isDataComplete: boolean;
    isLastInSlot: boolean;
    /** End of the payload, which starts at byte 88. */
    size: number;
  }>;

export type CodeShred = Common &
  Readonly<{
    kind: 'code';
    numData: number;
    numCode: number;
    /** Position among the code shreds of the set. */
    position: number;
  }>;

export type Shred = DataShred | CodeShred;

const u16At = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
const u32At = (bytes: Uint8Array, at: number): number =>
  (u16At(bytes, at) | (u16At(bytes, at + 2) << 16)) >>> 0;

/** The packet must contain the common header. */
export const slotOf = (packet: Uint8Array): Slot =>
  asSlot(BigInt(u32At(packet, SLOT_OFFSET)) | (BigInt(u32At(packet, SLOT_OFFSET + 4)) << 32n));

export const versionOf = (packet: Uint8Array): number => u16At(packet, VERSION_OFFSET);

export const payloadOf = (shred: DataShred): Uint8Array =>
  shred.bytes.subarray(DATA_HEADERS_BYTES, shred.size);

/** Restores the trailing zeros stripped from a legacy data shred, because the signature covers them. */
function paddedBytes(packet: Uint8Array, layout: ShredLayout): Uint8Array | null {
  if (packet.length > SHRED_PACKET_MAX_BYTES) return null;
  if (packet.length >= layout.bytes) return packet.subarray(0, layout.bytes);
  if (!layout.isLegacy || layout.kind === 'code') return null;
  const padded = new Uint8Array(layout.bytes);
  padded.set(packet);
  return padded;
}

/**
 * Checks everything except the signature. Source: agave ledger, `shred/merkle.rs`, `shred_data.rs`, `shred_code.rs`.
 * @param packet - UDP payload, possibly followed by a repair nonce.
 */
export function parseShred(packet: Uint8Array): Shred | ShredFault {
  if (packet.length < DATA_HEADERS_BYTES) return 'Length';
  const layout = shredLayout(packet[VARIANT_OFFSET] ?? 0);
  if (layout === null) return 'Variant';
  const bytes = paddedBytes(packet, layout);
  if (bytes === null) return 'Length';
  const index = u32At(bytes, INDEX_OFFSET);
  const fecSetIndex = u32At(bytes, FEC_SET_INDEX_OFFSET);
  if (index >= SHREDS_PER_SLOT_MAX || fecSetIndex >= SHREDS_PER_SLOT_MAX) return 'Index';
  return layout.kind === 'data'
    ? parseData(bytes, layout, index, fecSetIndex)
    : parseCode(bytes, layout, index, fecSetIndex);
}

function parseData(
  bytes: Uint8Array,
  layout: ShredLayout,
  index: number,
  fecSetIndex: number,
): DataShred | ShredFault {
  const slot = slotOf(bytes);
  const parentOffset = u16At(bytes, DATA_PARENT_OFFSET);
  const flags = bytes[DATA_FLAGS_OFFSET] as number;
  const size = u16At(bytes, DATA_SIZE_OFFSET);
  const leafIndex = index - fecSetIndex;
  if (leafIndex < 0 || leafIndex >= FEC_SET_SHREDS_MAX) return 'Index';
  if (BigInt(parentOffset) > slot || (parentOffset === 0 && slot !== 0n)) return 'ParentOffset';
  if ((flags & LAST_IN_SLOT) === (LAST_IN_SLOT & ~DATA_COMPLETE)) return 'Flags';
  if (size < DATA_HEADERS_BYTES || size > layout.bodyEnd) return 'Size';
  return {
    kind: 'data',
    layout,
    slot,
    index,
    version: versionOf(bytes),
    fecSetIndex,
    leafIndex,
    bytes,
    parentOffset,
    referenceTick: flags & REFERENCE_TICK_MASK,
    isDataComplete: (flags & DATA_COMPLETE) !== 0,
    isLastInSlot: (flags & LAST_IN_SLOT) === LAST_IN_SLOT,
    size,
  };
}

function parseCode(
  bytes: Uint8Array,
  layout: ShredLayout,
  index: number,
  fecSetIndex: number,
): CodeShred | ShredFault {
  const numData = u16At(bytes, NUM_DATA_OFFSET);
  const numCode = u16At(bytes, NUM_CODE_OFFSET);
  const position = u16At(bytes, POSITION_OFFSET);
  if (numData === 0 || numData + numCode > FEC_SET_SHREDS_MAX || position >= numCode) return 'FecSet';
  if (fecSetIndex + numData > SHREDS_PER_SLOT_MAX) return 'FecSet';
  const firstCode = index - position;
  if (firstCode < 0 || firstCode + numCode > SHREDS_PER_SLOT_MAX) return 'Index';
  return {
    kind: 'code',
    layout,
    slot: slotOf(bytes),
    index,
    version: versionOf(bytes),
    fecSetIndex,
    leafIndex: numData + position,
    bytes,
    numData,
    numCode,
    position,
  };
}
