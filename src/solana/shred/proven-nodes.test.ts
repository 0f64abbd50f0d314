import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeMerkleTree, ProvenNodes, proofEntriesOf, rootOf, writeProof } from './proven-nodes.ts';

const SIZES = [1, 2, 3, 5, 8, 24, 33, 64, 67, 134, 256];

function tree(size: number) {
  const leaves = Array.from({ length: size }, () => new Uint8Array(randomBytes(32)));
  const made = makeMerkleTree(leaves);
  const proofs = leaves.map((_, i) => {
    const proof = new Uint8Array(160);
    writeProof(made, i, proof, 0);
    return proof;
  });
  return { leaves, proofs, root: rootOf(made), depth: proofEntriesOf(size) };
}

describe('proven nodes', () => {
  it.each(SIZES)('of a tree of %i leaves accept each leaf with its own proof only', (size) => {
    const { leaves, proofs, root, depth } = tree(size);
    const proven = new ProvenNodes(depth, root);
    leaves.forEach((leaf, i) => {
      const wrong = Uint8Array.from(leaf);
      wrong[19] = (wrong[19] as number) ^ 1;
      expect(proven.prove(i, wrong, proofs[i]!, 0)).toBe(false);
      expect(proven.prove(i, leaf, proofs[i]!, 0)).toBe(true);
      expect(proven.prove(i, wrong, proofs[i]!, 0)).toBe(false);
      // A proven leaf is accepted with any proof.
      expect(proven.prove(i, leaf, new Uint8Array(160), 0)).toBe(true);
    });
    expect(proven.prove(1 << depth, leaves[0]!, proofs[0]!, 0)).toBe(false);
  });

  it.each(SIZES)('of a tree of %i leaves verify leaves without proof from their neighbors', (size) => {
    const { leaves, proofs, root, depth } = tree(size);
    for (let first = 0; first < size; first += 7) {
      const proven = new ProvenNodes(depth, root);
      expect(proven.prove(first, leaves[first]!, proofs[first]!, 0)).toBe(true);
      const leafOf = (i: number): Uint8Array => leaves[i]!;
      expect(leaves.every((_, i) => proven.proveWithoutProof(i, size, leafOf))).toBe(true);
      if (size === 1) continue;
      const wrong = (first + 1) % size;
      const corrupted = new ProvenNodes(depth, root);
      corrupted.prove(first, leaves[first]!, proofs[first]!, 0);
      const corruptedLeafOf = (i: number): Uint8Array => (i === wrong ? new Uint8Array(32) : leaves[i]!);
      expect(corrupted.proveWithoutProof(wrong, size, corruptedLeafOf)).toBe(false);
    }
  });

  it.each([0, 19, 20, 31])('reject a root that differs in byte %i', (at) => {
    const { leaves, proofs, root, depth } = tree(64);
    const other = Uint8Array.from(root);
    other[at] = (other[at] as number) ^ 1;
    const proven = new ProvenNodes(depth, other);
    expect(leaves.some((leaf, i) => proven.prove(i, leaf, proofs[i]!, 0))).toBe(false);
    expect(proven.proveWithoutProof(3, 64, (i) => leaves[i]!)).toBe(false);
  });
});
