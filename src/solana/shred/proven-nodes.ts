import { hash } from 'node:crypto';
import type { Shred } from './parse-shred.ts';
import {
  MERKLE_ROOT_BYTES,
  PROOF_ENTRY_BYTES,
  SHRED_PACKET_MAX_BYTES,
  SIGNATURE_BYTES,
} from './shred-layout.ts';

const LEAF_PREFIX = Buffer.from('\0SOLANA_MERKLE_SHREDS_LEAF', 'latin1');
const NODE_PREFIX = Buffer.from('\x01SOLANA_MERKLE_SHREDS_NODE', 'latin1');

/** Buffers for hash inputs. Each starts with its prefix, so that one hash call suffices. */
const leafInput = Buffer.alloc(LEAF_PREFIX.length + SHRED_PACKET_MAX_BYTES);
leafInput.set(LEAF_PREFIX);
const nodeInput = Buffer.alloc(NODE_PREFIX.length + 2 * PROOF_ENTRY_BYTES);
nodeInput.set(NODE_PREFIX);

/** Hashes a shred without its signatures and proof. Source: agave ledger, `shred/merkle_tree.rs`. */
export function merkleLeaf(shred: Uint8Array, proofStart: number): Uint8Array {
  leafInput.set(shred.subarray(SIGNATURE_BYTES, proofStart), LEAF_PREFIX.length);
  return hash('sha256', leafInput.subarray(0, LEAF_PREFIX.length + proofStart - SIGNATURE_BYTES), 'buffer');
}

/** Hashes only the first 20 bytes of each node. */
function merkleParent(
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

/** Computes the root, which the leader signed. @returns null if the leaf index does not fit the proof length. */
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

/** Levels from the leaves to the root. If a level has an odd number of nodes, the last is paired with itself. */
type MerkleTree = readonly (readonly Uint8Array[])[];

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

export const rootOf = (tree: MerkleTree): Uint8Array => tree[tree.length - 1]?.[0] as Uint8Array;

export function writeProof(tree: MerkleTree, leafIndex: number, shred: Uint8Array, proofStart: number): void {
  for (let level = 0; level < tree.length - 1; level++) {
    const nodes = tree[level] as readonly Uint8Array[];
    const index = leafIndex >> level;
    const sibling = nodes[index ^ 1] ?? (nodes[index] as Uint8Array);
    shred.set(sibling.subarray(0, PROOF_ENTRY_BYTES), proofStart + level * PROOF_ENTRY_BYTES);
  }
}

const ROOT = 1;

/**
 * Verified nodes of a Merkle tree. Each verified shred adds its path and the siblings from its proof, so that later
 * shreds need fewer hashes and recovered shreds can be verified without a proof. Nodes are numbered as in a heap: the
 * root is 1, the children of n are 2n and 2n + 1.
 */
export class ProvenNodes {
  readonly root: Uint8Array;
  readonly #depth: number;
  readonly #nodes: Uint8Array;
  readonly #isKnown: Uint8Array;

  /** @param depth - proof length, 0 to 8. */
  constructor(depth: number, root: Uint8Array) {
    this.root = root;
    this.#depth = depth;
    this.#nodes = new Uint8Array((2 << depth) * PROOF_ENTRY_BYTES);
    this.#isKnown = new Uint8Array(2 << depth);
    this.#learn(ROOT, root, 0);
  }

  /** Verifies a leaf and stores the nodes of its proof. */
  prove(leafIndex: number, leaf: Uint8Array, shred: Uint8Array, proofStart: number): boolean {
    if (leafIndex >> this.#depth !== 0) return false;
    const path: Uint8Array[] = [];
    let at = (1 << this.#depth) + leafIndex;
    let node = leaf;
    for (let level = 0; this.#isKnown[at] === 0; level++, at >>= 1) {
      path.push(node);
      const sibling = proofStart + level * PROOF_ENTRY_BYTES;
      node = (at & 1) === 1 ? merkleParent(shred, node, sibling) : merkleParent(node, shred, 0, sibling);
    }
    if (!this.#isNode(at, node)) return false;
    this.#learnPath(leafIndex, path, shred, proofStart);
    return true;
  }

  #learnPath(leafIndex: number, path: readonly Uint8Array[], shred: Uint8Array, proofStart: number): void {
    let at = (1 << this.#depth) + leafIndex;
    path.forEach((node, level) => {
      this.#learn(at, node, 0);
      if (this.#isKnown[at ^ 1] === 0) this.#learn(at ^ 1, shred, proofStart + level * PROOF_ENTRY_BYTES);
      at >>= 1;
    });
  }

  /** Verifies a leaf by rebuilding unknown nodes. After a failure, the tree is no longer reliable. */
  proveWithoutProof(leafIndex: number, leaves: number, leafOf: (index: number) => Uint8Array): boolean {
    if (leafIndex >= leaves || leafIndex >> this.#depth !== 0) return false;
    let level = 0;
    let at = (1 << this.#depth) + leafIndex;
    while (this.#isKnown[at] === 0) {
      at >>= 1;
      level++;
    }
    return this.#isNode(at, this.#rebuild(level, leafIndex >> level, leaves, leafOf));
  }

  #rebuild(level: number, index: number, leaves: number, leafOf: (index: number) => Uint8Array): Uint8Array {
    if (level === 0) return leafOf(index);
    const width = Math.ceil(leaves / (1 << (level - 1)));
    const left = this.#child(level - 1, 2 * index, leaves, leafOf);
    const right = 2 * index + 1 < width ? this.#child(level - 1, 2 * index + 1, leaves, leafOf) : left;
    return merkleParent(left, right);
  }

  #child(level: number, index: number, leaves: number, leafOf: (index: number) => Uint8Array): Uint8Array {
    const at = (1 << (this.#depth - level)) + index;
    if (this.#isKnown[at] === 0) this.#learn(at, this.#rebuild(level, index, leaves, leafOf), 0);
    return this.#nodes.subarray(at * PROOF_ENTRY_BYTES, (at + 1) * PROOF_ENTRY_BYTES);
  }

  #learn(at: number, bytes: Uint8Array, from: number): void {
    this.#isKnown[at] = 1;
    const to = at * PROOF_ENTRY_BYTES;
    for (let i = 0; i < PROOF_ENTRY_BYTES; i++) this.#nodes[to + i] = bytes[from + i] as number;
  }

  /** Compares all bytes of the root, because the leader signed all of them. */
  #isNode(at: number, node: Uint8Array): boolean {
    const [known, from, length] =
      at === ROOT
        ? [this.root, 0, MERKLE_ROOT_BYTES]
        : [this.#nodes, at * PROOF_ENTRY_BYTES, PROOF_ENTRY_BYTES];
    for (let i = 0; i < length; i++) if (known[from + i] !== node[i]) return false;
    return true;
  }
}

/** Source: agave ledger, `get_proof_size`. */
export const proofEntriesOf = (leaves: number): number => 32 - Math.clz32(leaves - 1);
