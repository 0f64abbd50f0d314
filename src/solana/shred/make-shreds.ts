import type { Slot } from '../units.ts';
import { makeMerkleTree, merkleLeaf, rootOf, writeProof } from './proven-nodes.ts';
import { reedSolomon } from './reed-solomon.ts';
import {
  CODE_SHRED_BYTES,
  chainedLayout,
  DATA_COMPLETE,
  DATA_FLAGS_OFFSET,
  DATA_HEADERS_BYTES,
  DATA_PARENT_OFFSET,
  DATA_SHRED_BYTES,
  DATA_SIZE_OFFSET,
  FEC_SET_CODE_SHREDS,
  FEC_SET_DATA_SHREDS,
  FEC_SET_INDEX_OFFSET,
  INDEX_OFFSET,
  LAST_IN_SLOT,
  MERKLE_ROOT_BYTES,
  NUM_CODE_OFFSET,
  NUM_DATA_OFFSET,
  POSITION_OFFSET,
  REFERENCE_TICK_MASK,
  SHREDS_PER_SLOT_MAX,
  type ShredLayout,
  SLOT_OFFSET,
  VARIANT_OFFSET,
  VERSION_OFFSET,
} from './shred-layout.ts';

export type SetEnd = 'nothing' | 'data' | 'slot';

const END_FLAGS: Readonly<Record<SetEnd, number>> = { nothing: 0, data: DATA_COMPLETE, slot: LAST_IN_SLOT };

type Source = Readonly<{
  slot: Slot;
  /** Distance to the parent in slots, 1 to 65,535; 0 only in slot 0. */
  parentOffset: number;
  version: number;
  /** 0 in the first call for a slot, then the value that the previous call returned. */
  fecSetIndex: number;
  /** Merkle root of the previous set, or, in the first set of a slot, of the parent slot's last set. */
  chainedRoot: Uint8Array;
  /** Capped at 63. */
  referenceTick: number;
  sign: (root: Uint8Array) => Uint8Array;
}>;

function writeCommonHeader(shred: Uint8Array, layout: ShredLayout, source: Source, index: number): DataView {
  const view = new DataView(shred.buffer, shred.byteOffset, shred.byteLength);
  view.setUint8(VARIANT_OFFSET, layout.variant);
  view.setBigUint64(SLOT_OFFSET, source.slot, true);
  view.setUint32(INDEX_OFFSET, index, true);
  view.setUint16(VERSION_OFFSET, source.version, true);
  view.setUint32(FEC_SET_INDEX_OFFSET, source.fecSetIndex, true);
  shred.set(source.chainedRoot, layout.bodyEnd);
  return view;
}

function makeDataShreds(source: Source, layout: ShredLayout, data: Uint8Array, end: SetEnd): Uint8Array[] {
  const capacity = layout.bodyEnd - DATA_HEADERS_BYTES;
  return Array.from({ length: FEC_SET_DATA_SHREDS }, (_, i) => {
    const shred = new Uint8Array(DATA_SHRED_BYTES);
    const view = writeCommonHeader(shred, layout, source, source.fecSetIndex + i);
    const payload = data.subarray(i * capacity, (i + 1) * capacity);
    const flags = i === FEC_SET_DATA_SHREDS - 1 ? END_FLAGS[end] : 0;
    view.setUint16(DATA_PARENT_OFFSET, source.parentOffset, true);
    view.setUint8(DATA_FLAGS_OFFSET, flags | Math.min(source.referenceTick, REFERENCE_TICK_MASK));
    view.setUint16(DATA_SIZE_OFFSET, DATA_HEADERS_BYTES + payload.length, true);
    shred.set(payload, DATA_HEADERS_BYTES);
    return shred;
  });
}

function makeCodeShreds(source: Source, layout: ShredLayout, shards: readonly Uint8Array[]): Uint8Array[] {
  const positions = Array.from({ length: FEC_SET_CODE_SHREDS }, (_, i) => i);
  const shreds = positions.map((position) => {
    const shred = new Uint8Array(CODE_SHRED_BYTES);
    const view = writeCommonHeader(shred, layout, source, source.fecSetIndex + position);
    view.setUint16(NUM_DATA_OFFSET, FEC_SET_DATA_SHREDS, true);
    view.setUint16(NUM_CODE_OFFSET, FEC_SET_CODE_SHREDS, true);
    view.setUint16(POSITION_OFFSET, position, true);
    return shred;
  });
  const parity = shreds.map((shred) => shred.subarray(layout.shardStart, layout.shardEnd));
  reedSolomon(FEC_SET_DATA_SHREDS, FEC_SET_CODE_SHREDS).encode(shards, positions, parity);
  return shreds;
}

export const fecSetCapacity = (isResigned: boolean): number =>
  FEC_SET_DATA_SHREDS * (chainedLayout('data', isResigned).bodyEnd - DATA_HEADERS_BYTES);

/**
 * Makes 32 data and 32 code shreds. Source: agave ledger, `shred/merkle.rs`, `finish_erasure_batch`.
 * @param isResigned - reserves space for a retransmitter signature and leaves it zeroed.
 * @returns the packets, data shreds first, and the Merkle root.
 */
export function makeFecSet(
  source: Source,
  data: Uint8Array,
  end: SetEnd,
  isResigned: boolean,
): { packets: Uint8Array[]; root: Uint8Array } {
  const { slot, parentOffset, fecSetIndex, chainedRoot } = source;
  if (parentOffset > 0xffff || BigInt(parentOffset) > slot || (parentOffset === 0 && slot !== 0n)) {
    throw new RangeError(`invalid parent offset ${parentOffset} for slot ${slot}`);
  }
  if (fecSetIndex + FEC_SET_DATA_SHREDS > SHREDS_PER_SLOT_MAX) {
    throw new RangeError(`a slot can have at most ${SHREDS_PER_SLOT_MAX} data shreds`);
  }
  if (chainedRoot.length !== MERKLE_ROOT_BYTES) throw new RangeError('a Merkle root must be 32 bytes');
  const capacity = fecSetCapacity(isResigned);
  if (data.length > capacity)
    throw new RangeError(`data of ${data.length} bytes exceeds the set capacity of ${capacity}`);
  const layouts = { data: chainedLayout('data', isResigned), code: chainedLayout('code', isResigned) };
  const dataShreds = makeDataShreds(source, layouts.data, data, end);
  const shards = dataShreds.map((shred) => shred.subarray(layouts.data.shardStart, layouts.data.shardEnd));
  const packets = [...dataShreds, ...makeCodeShreds(source, layouts.code, shards)];
  const layoutOf = (i: number): ShredLayout => (i < FEC_SET_DATA_SHREDS ? layouts.data : layouts.code);
  const tree = makeMerkleTree(packets.map((shred, i) => merkleLeaf(shred, layoutOf(i).proofStart)));
  const root = rootOf(tree);
  const signature = source.sign(root);
  packets.forEach((shred, i) => {
    shred.set(signature);
    writeProof(tree, i, shred, layoutOf(i).proofStart);
  });
  return { packets, root };
}

type MadeShreds = Readonly<{
  /** In sending order. */
  packets: readonly Uint8Array[];
  /** Pass to the next call. */
  chainedRoot: Uint8Array;
  /** Pass to the next call for this slot. */
  fecSetIndex: number;
}>;

/**
 * Like current Agave leaders, makes chained Merkle sets of 32 data and 32 code shreds. The last set is padded and
 * marked complete. Source: agave ledger, `shred/merkle.rs`, `make_shreds_from_data`.
 * @throws RangeError for an invalid parent offset or chained root, or if the slot would have too many shreds.
 */
export function makeShreds(
  source: Source & Readonly<{ entries: Uint8Array; isLastInSlot: boolean }>,
): MadeShreds {
  const { entries, isLastInSlot } = source;
  const packets: Uint8Array[] = [];
  let { chainedRoot, fecSetIndex } = source;
  const lastBytes = fecSetCapacity(isLastInSlot);
  for (let at = 0, isDone = false; !isDone; ) {
    const left = entries.length - at;
    isDone = left <= lastBytes;
    // A remainder that exceeds one resigned set but fits in a normal set is split into two resigned sets.
    const isResigned = isLastInSlot && (isDone || left <= fecSetCapacity(false));
    const end = !isDone ? 'nothing' : isLastInSlot ? 'slot' : 'data';
    const chunk = entries.subarray(at, at + fecSetCapacity(isResigned));
    const set = makeFecSet({ ...source, chainedRoot, fecSetIndex }, chunk, end, isResigned);
    packets.push(...set.packets);
    chainedRoot = set.root;
    fecSetIndex += FEC_SET_DATA_SHREDS;
    at += chunk.length;
  }
  return { packets, chainedRoot, fecSetIndex };
}
