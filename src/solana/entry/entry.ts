import type { WireTransaction } from '../transaction/wire-transaction.ts';

/** A link of a slot's chain of hashes. Source: solana-entry, `Entry`. */
export type Entry = Readonly<{
  /** Hashes since the entry before, u64. */
  numHashes: bigint;
  /** 32 bytes. */
  hash: Uint8Array;
  transactions: readonly WireTransaction[];
}>;
