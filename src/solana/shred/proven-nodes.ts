import { merkleParent } from './merkle-tree.ts';
import { MERKLE_ROOT_BYTES, PROOF_ENTRY_BYTES } from './shred-layout.ts';

const ROOT = 1;

/**
 * Nodes of a merkle tree that are known to be under its root. Each shred that is proven adds its path and the
 * siblings of its path, so that its neighbours need fewer hashes, and shreds that were recovered, which have no proof,
 * are proven by what is known around them. Nodes are numbered as in a heap: the root is 1, the children of n are 2n
 * and 2n + 1.
 */
export class ProvenNodes {
  readonly root: Uint8Array;
  readonly #depth: number;
  readonly #nodes: Uint8Array;
  readonly #isKnown: Uint8Array;

  /**
   * @param depth - nodes of each proof, 0 to 8.
   * @param root - 32 bytes, which the caller vouches for.
   */
  constructor(depth: number, root: Uint8Array) {
    this.root = root;
    this.#depth = depth;
    this.#nodes = new Uint8Array((2 << depth) * PROOF_ENTRY_BYTES);
    this.#isKnown = new Uint8Array(2 << depth);
    this.#learn(ROOT, root, 0);
  }

  /**
   * Whether a leaf is under the root. If so, what its proof says is known from now on.
   * @param shred - its proof begins at `proofStart`.
   */
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

  /**
   * Whether a leaf without a proof is under the root: what is not known of the tree around it is rebuilt. When it is
   * not, nothing can be relied on any more.
   * @param leaves - of the tree.
   * @param leafOf - gives the leaf of any place that was not proven before.
   */
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

  /** A node from what is below it. */
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

  /** Of the root all bytes count: they were signed. */
  #isNode(at: number, node: Uint8Array): boolean {
    const [known, from, length] =
      at === ROOT
        ? [this.root, 0, MERKLE_ROOT_BYTES]
        : [this.#nodes, at * PROOF_ENTRY_BYTES, PROOF_ENTRY_BYTES];
    for (let i = 0; i < length; i++) if (known[from + i] !== node[i]) return false;
    return true;
  }
}

/** The length of a proof in a tree of so many leaves. Source: agave ledger, `get_proof_size`. */
export const proofEntriesOf = (leaves: number): number => 32 - Math.clz32(leaves - 1);
