import { hash } from 'node:crypto';
import type { Shred } from './parse-shred.ts';
import { PROOF_ENTRY_BYTES, SHRED_PACKET_MAX_BYTES, SIGNATURE_BYTES } from './shred-layout.ts';

const LEAF_PREFIX = Buffer.from('\0SOLANA_MERKLE_SHREDS_LEAF', 'latin1');
const NODE_PREFIX = Buffer.from('\x01SOLANA_MERKLE_SHREDS_NODE', 'latin1');

/** What is hashed is put behind its prefix here, so that one call to the hash function is enough. */
const leafInput = Buffer.alloc(LEAF_PREFIX.length + SHRED_PACKET_MAX_BYTES);
leafInput.set(LEAF_PREFIX);
const nodeInput = Buffer.alloc(NODE_PREFIX.length + 2 * PROOF_ENTRY_BYTES);
nodeInput.set(NODE_PREFIX);

/**
 * The leaf of a shred in the merkle tree of its set: its hash without signature, proof and retransmitter's signature.
 * Source: agave ledger, `shred/merkle_tree.rs`.
 * @param proofStart - of the shred's layout.
 * @returns 32 bytes.
 */
export function merkleLeaf(shred: Uint8Array, proofStart: number): Uint8Array {
  leafInput.set(shred.subarray(SIGNATURE_BYTES, proofStart), LEAF_PREFIX.length);
  return hash('sha256', leafInput.subarray(0, LEAF_PREFIX.length + proofStart - SIGNATURE_BYTES), 'buffer');
}

/**
 * The parent of two nodes, of which only the first 20 bytes count.
 * @param leftAt - where the left node begins in `left`.
 * @returns 32 bytes.
 */
export function merkleParent(
  left: Uint8Array,
  right: Uint8Array,
  leftAt: number = 0,
  rightAt: number = 0,
): Uint8Array {
  const second = NODE_PREFIX.length + PROOF_ENTRY_BYTES;
  for (let i = 0; i < PROOF_ENTRY_BYTES; i++) {
    nodeInput[NODE_PREFIX.length + i] = left[leftAt + i] as number;
    nodeInput[second + i] = right[rightAt + i] as number;
  }
  return hash('sha256', nodeInput, 'buffer');
}

/**
 * The root that a merkle shred and its proof lead to: what its leader signed.
 * @returns 32 bytes; null when the shred's place is not one that a proof of that length can have.
 */
export function merkleRoot({ bytes, layout, leafIndex }: Shred): Uint8Array | null {
  if (leafIndex >> layout.proofEntries !== 0) return null;
  let node = merkleLeaf(bytes, layout.proofStart);
  for (let level = 0; level < layout.proofEntries; level++) {
    const at = layout.proofStart + level * PROOF_ENTRY_BYTES;
    const isRight = ((leafIndex >> level) & 1) === 1;
    node = isRight ? merkleParent(bytes, node, at) : merkleParent(node, bytes, 0, at);
  }
  return node;
}

/** A whole tree: the leaves, then the nodes above them, …, then the root alone. At an odd end a node pairs with itself. */
export type MerkleTree = readonly (readonly Uint8Array[])[];

/** @param leaves - at least one. */
export function makeMerkleTree(leaves: readonly Uint8Array[]): MerkleTree {
  const levels: Uint8Array[][] = [[...leaves]];
  for (let level = levels[0] as Uint8Array[]; level.length > 1; ) {
    const parents: Uint8Array[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as Uint8Array;
      parents.push(merkleParent(left, level[i + 1] ?? left));
    }
    levels.push(parents);
    level = parents;
  }
  return levels;
}

/** The root of a whole tree: 32 bytes. */
export const rootOf = (tree: MerkleTree): Uint8Array => tree[tree.length - 1]?.[0] as Uint8Array;

/** Writes the proof of a leaf into a shred. */
export function writeProof(tree: MerkleTree, leafIndex: number, shred: Uint8Array, proofStart: number): void {
  for (let level = 0; level < tree.length - 1; level++) {
    const nodes = tree[level] as readonly Uint8Array[];
    const index = leafIndex >> level;
    const sibling = nodes[index ^ 1] ?? (nodes[index] as Uint8Array);
    shred.set(sibling.subarray(0, PROOF_ENTRY_BYTES), proofStart + level * PROOF_ENTRY_BYTES);
  }
}
