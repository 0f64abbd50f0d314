import { hash } from 'node:crypto';

const HASH_BYTES = 32;
/** Told apart, so that no leaf can stand for a node. Source: solana merkle-tree. */
const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array =>
  hash('sha256', Buffer.concat(parts), 'buffer');

/**
 * What signatures of an entry's transactions, 64 bytes each, do to its hash: the root of their Merkle tree.
 * Source: agave entry/src/entry.rs, `hash_transactions`.
 */
export function signaturesRoot(signatures: readonly Uint8Array[]): Uint8Array {
  let level = signatures.map((signature) => sha256(LEAF_PREFIX, signature));
  while (level.length > 1) {
    const below = level;
    // The last of an odd number is its own neighbour.
    level = below.flatMap((left, index) =>
      index % 2 === 0 ? [sha256(NODE_PREFIX, left, below[index + 1] ?? left)] : [],
    );
  }
  return level[0] ?? new Uint8Array(HASH_BYTES);
}

/**
 * The next link of the chain, one hash on. Source: agave entry/src/poh.rs, `record` and `tick`.
 * @param mixin - the root of the transactions' signatures; null for a tick.
 */
export const nextHash = (before: Uint8Array, mixin: Uint8Array | null): Uint8Array =>
  mixin === null ? hash('sha256', before, 'buffer') : sha256(before, mixin);
