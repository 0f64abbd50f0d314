import { WireScan } from '../transaction/wire-scan.ts';
import {
  emptyShape,
  scanTransaction,
  type TransactionShape,
  viewTransaction,
  type WireTransaction,
} from '../transaction/wire-transaction.ts';
import type { Entry } from './entry.ts';

const COUNT_BYTES = 8;
const HASH_BYTES = 32;
/** Number of hashes, hash and number of transactions. */
const ENTRY_MIN_BYTES = 48;
/** A signature and what no message is without. */
const TRANSACTION_MIN_BYTES = 100;

/**
 * Entries of one batch. A leader makes some hundred; what claims more costs time and is none.
 */
export const BATCH_ENTRIES_MAX = 65_536;

/** What a batch of shreds carries. */
export type EntryBatchKind =
  | 'entries'
  /** A block marker of Alpenglow, which stands where the number of entries would be 0; or no entry at all. */
  | 'marker'
  /** Neither: whoever made it broke the rules. */
  | 'malformed';

/** A u64 that counts what follows: -1 when there is no room for as many. */
function readCount(scan: WireScan, itemMinBytes: number): number {
  const low = scan.u32();
  const high = scan.u32();
  return scan.isBroken || high !== 0 || low * itemMinBytes > scan.remaining ? -1 : low;
}

/** How many entries a batch says it has: -1 when it has no room for as many, or they are too many. */
function readEntryCount(scan: WireScan): number {
  const count = readCount(scan, ENTRY_MIN_BYTES);
  return count > BATCH_ENTRIES_MAX ? -1 : count;
}

/** Passes over the transactions of one entry. */
function scanTransactions(scan: WireScan, shape: TransactionShape, seen: (() => void) | null): boolean {
  const count = readCount(scan, TRANSACTION_MIN_BYTES);
  if (count < 0) return false;
  for (let i = 0; i < count; i++) {
    if (!scanTransaction(scan, shape)) return false;
    seen?.();
  }
  return true;
}

/**
 * What a batch is, and where its entries end; bytes after that are padding. Makes nothing but the answer.
 * Source: bincode of `Vec<Entry>`; agave entry, `block_component.rs`.
 */
export function measureEntries(batch: Uint8Array): { kind: EntryBatchKind; length: number } {
  const scan = new WireScan(batch);
  const count = readEntryCount(scan);
  if (count < 0) return { kind: 'malformed', length: 0 };
  if (count === 0) return { kind: 'marker', length: 0 };
  const shape = emptyShape();
  for (let i = 0; i < count; i++) {
    scan.take(COUNT_BYTES + HASH_BYTES);
    if (!scanTransactions(scan, shape, null)) return { kind: 'malformed', length: 0 };
  }
  return { kind: 'entries', length: scan.at };
}

/**
 * Reads a bincode `Vec<Entry>`; a block marker is one of no entries. Transactions of every version are there, also of
 * version 1. All bytes are views into the batch, and what follows the last entry is ignored.
 * @returns null when it is malformed.
 */
export function readEntries(batch: Uint8Array): Entry[] | null {
  const scan = new WireScan(batch);
  const view = new DataView(batch.buffer, batch.byteOffset, batch.byteLength);
  const count = readEntryCount(scan);
  if (count < 0) return null;
  const shape = emptyShape();
  const entries: Entry[] = [];
  for (let i = 0; i < count; i++) {
    const at = scan.take(COUNT_BYTES + HASH_BYTES);
    if (scan.isBroken) return null;
    const transactions: WireTransaction[] = [];
    const isWhole = scanTransactions(scan, shape, () => transactions.push(viewTransaction(batch, shape)));
    if (!isWhole) return null;
    const hash = batch.subarray(at + COUNT_BYTES, at + COUNT_BYTES + HASH_BYTES);
    entries.push({ numHashes: view.getBigUint64(at, true), hash, transactions });
  }
  return entries;
}

/**
 * Reads the transactions of a bincode `Vec<Entry>` and makes nothing of its entries; otherwise as `readEntries`.
 * @returns how many entries there are, and the transactions of all in order; null when it is malformed.
 */
export function readTransactions(
  batch: Uint8Array,
): Readonly<{ entries: number; transactions: readonly WireTransaction[] }> | null {
  const scan = new WireScan(batch);
  const entries = readEntryCount(scan);
  if (entries < 0) return null;
  const shape = emptyShape();
  const transactions: WireTransaction[] = [];
  const seen = (): void => void transactions.push(viewTransaction(batch, shape));
  for (let i = 0; i < entries; i++) {
    scan.take(COUNT_BYTES + HASH_BYTES);
    if (!scanTransactions(scan, shape, seen)) return null;
  }
  return { entries, transactions };
}
