import {
  makeMerkleTree,
  merkleLeaf,
  proofEntriesOf,
  rootOf,
  writeProof,
} from '../../src/solana/shred/proven-nodes.ts';
import { reedSolomon } from '../../src/solana/shred/reed-solomon.ts';
import {
  DATA_HEADERS_BYTES,
  type ShredLayout,
  shredLayout,
  siblingLayout,
} from '../../src/solana/shred/shred-layout.ts';
import type { Slot } from '../../src/solana/units.ts';
import { someEntries, TEST_SHRED_VERSION, testLeader } from './deshred-rig.ts';

/** Faults in a set that is signed by its leader. */
export type SetFault = Readonly<{
  /** Changes the shreds after parity is computed and before signing. */
  spoil?: (packets: readonly Uint8Array[]) => void;
}>;

function header(shred: Uint8Array, layout: ShredLayout, slot: Slot, index: number): DataView {
  const view = new DataView(shred.buffer);
  view.setUint8(0x40, layout.variant);
  view.setBigUint64(0x41, slot, true);
  view.setUint32(0x49, index, true);
  view.setUint16(0x4d, TEST_SHRED_VERSION, true);
  view.setUint32(0x4f, 0, true);
  return view;
}

function dataShreds(layout: ShredLayout, count: number, slot: Slot, entries: Uint8Array): Uint8Array[] {
  const capacity = layout.bodyEnd - DATA_HEADERS_BYTES;
  return Array.from({ length: count }, (_, i) => {
    const shred = new Uint8Array(layout.bytes);
    const payload = entries.subarray(i * capacity, (i + 1) * capacity);
    const view = header(shred, layout, slot, i);
    view.setUint16(0x53, slot === 0n ? 0 : 1, true);
    view.setUint8(0x55, i === count - 1 ? 0xc0 : 0);
    view.setUint16(0x56, DATA_HEADERS_BYTES + payload.length, true);
    shred.set(payload, DATA_HEADERS_BYTES);
    return shred;
  });
}

function codeShreds(
  layout: ShredLayout,
  dataLayout: ShredLayout,
  data: readonly Uint8Array[],
  count: number,
  slot: Slot,
): Uint8Array[] {
  const shreds = Array.from({ length: count }, (_, position) => {
    const shred = new Uint8Array(layout.bytes);
    const view = header(shred, layout, slot, position);
    view.setUint16(0x53, data.length, true);
    view.setUint16(0x55, count, true);
    view.setUint16(0x57, position, true);
    return shred;
  });
  reedSolomon(data.length, count).encode(
    data.map((shred) => shred.subarray(dataLayout.shardStart, dataLayout.shardEnd)),
    shreds.map((_, i) => i),
    shreds.map((shred) => shred.subarray(layout.shardStart, layout.shardEnd)),
  );
  return shreds;
}

/** A slot with one set of Merkle shreds. @param variant - high four bits of the data variant. */
export function makeMerkleSet(
  variant: number,
  numData: number,
  numCode: number,
  slot: Slot,
  fault: SetFault = {},
) {
  const dataLayout = shredLayout((variant << 4) | proofEntriesOf(numData + numCode))!;
  const codeLayout = siblingLayout(dataLayout);
  const entries = someEntries((numData - 1) * 800 + 8 + 48, Number(slot) & 0xff);
  const data = dataShreds(dataLayout, numData, slot, entries);
  const packets = [...data, ...codeShreds(codeLayout, dataLayout, data, numCode, slot)];
  fault.spoil?.(packets);
  const startOf = (i: number): number => (i < numData ? dataLayout : codeLayout).proofStart;
  const tree = makeMerkleTree(packets.map((shred, i) => merkleLeaf(shred, startOf(i))));
  const signature = testLeader.sign(rootOf(tree));
  packets.forEach((shred, i) => {
    shred.set(signature);
    writeProof(tree, i, shred, startOf(i));
  });
  return { entries, packets };
}

export function makeLegacySet(numData: number, numCode: number, slot: Slot) {
  const [dataLayout, codeLayout] = [shredLayout(0xa5)!, shredLayout(0x5a)!];
  const entries = someEntries((numData - 1) * 900, Number(slot) & 0xff);
  const data = dataShreds(dataLayout, numData, slot, entries);
  const sign = (shred: Uint8Array): void => shred.set(testLeader.sign(shred.subarray(64)));
  data.forEach(sign);
  const code = codeShreds(codeLayout, dataLayout, data, numCode, slot);
  code.forEach(sign);
  return { entries, packets: [...data, ...code] };
}
