import { hash } from 'node:crypto';
import { ByteWriter } from '../base/bytes.ts';
import {
  emptyShape,
  scanTransaction,
  type TransactionShape,
  viewTransaction,
  WireScanner,
  type WireTransaction,
} from './transaction/wire-transaction.ts';

/** Entry of a slot's PoH chain. Source: solana-entry, `Entry`. */
export type Entry = Readonly<{
  numHashes: bigint;
  hash: Uint8Array;
  transactions: readonly WireTransaction[];
}>;

const COUNT_BYTES = 8;
const HASH_BYTES = 32;
/** Hash count, hash, transaction count. */
const ENTRY_MIN_BYTES = 48;
const TRANSACTION_MIN_BYTES = 100;

/** Leaders put only a few hundred entries in a batch. */
export const BATCH_ENTRIES_MAX = 65_536;

type EntryBatchKind =
  | 'entries'
  /** Entry count 0: an Alpenglow block marker, or an empty batch. */
  | 'marker'
  | 'malformed';

function readCount(scan: WireScanner, itemMinBytes: number): number {
  const low = scan.u32();
  const high = scan.u32();
  return scan.isBroken || high !== 0 || low * itemMinBytes > scan.remaining ? -1 : low;
}

function scanTransactions(scan: WireScanner, shape: TransactionShape, seen: (() => void) | null): boolean {
  const count = readCount(scan, TRANSACTION_MIN_BYTES);
  if (count < 0) return false;
  for (let i = 0; i < count; i++) {
    if (!scanTransaction(scan, shape)) return false;
    seen?.();
  }
  return true;
}

/** @returns the number of entries; -1 if malformed. */
function scanEntries(
  scan: WireScanner,
  shape: TransactionShape,
  onEntry: ((at: number) => void) | null,
  onTransaction: (() => void) | null,
): number {
  const count = readCount(scan, ENTRY_MIN_BYTES);
  if (count > BATCH_ENTRIES_MAX) return -1;
  for (let i = 0; i < count; i++) {
    const at = scan.take(COUNT_BYTES + HASH_BYTES);
    if (scan.isBroken) return -1;
    onEntry?.(at);
    if (!scanTransactions(scan, shape, onTransaction)) return -1;
  }
  return count;
}

/** The length excludes padding. Allocates only the result. Source: agave entry, `block_component.rs`. */
export function measureEntries(batch: Uint8Array): { kind: EntryBatchKind; length: number } {
  const scan = new WireScanner(batch);
  const count = scanEntries(scan, emptyShape(), null, null);
  if (count <= 0) return { kind: count < 0 ? 'malformed' : 'marker', length: 0 };
  return { kind: 'entries', length: scan.at };
}

/** Decodes a bincode `Vec<Entry>`; empty for a block marker. Byte arrays are views of `batch`; padding is ignored. */
export function readEntries(batch: Uint8Array): Entry[] | null {
  const view = new DataView(batch.buffer, batch.byteOffset, batch.byteLength);
  const shape = emptyShape();
  const entries: Entry[] = [];
  let transactions: WireTransaction[] = [];
  const onEntry = (at: number): void => {
    transactions = [];
    const hash = batch.subarray(at + COUNT_BYTES, at + COUNT_BYTES + HASH_BYTES);
    entries.push({ numHashes: view.getBigUint64(at, true), hash, transactions });
  };
  const onTransaction = (): void => void transactions.push(viewTransaction(batch, shape));
  const count = scanEntries(new WireScanner(batch), shape, onEntry, onTransaction);
  return count < 0 ? null : entries;
}

/** Decodes only the transactions of a bincode `Vec<Entry>`; otherwise like `readEntries`. */
export function readTransactions(
  batch: Uint8Array,
): Readonly<{ entries: number; transactions: readonly WireTransaction[] }> | null {
  const shape = emptyShape();
  const transactions: WireTransaction[] = [];
  const onTransaction = (): void => void transactions.push(viewTransaction(batch, shape));
  const entries = scanEntries(new WireScanner(batch), shape, null, onTransaction);
  return entries < 0 ? null : { entries, transactions };
}

/** Hash prefixes distinguish leaves from inner nodes. Source: solana merkle-tree. */
const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array =>
  hash('sha256', Buffer.concat(parts), 'buffer');

/** Merkle root that is mixed into the entry hash. Source: agave entry/src/entry.rs, `hash_transactions`. */
export function signaturesRoot(signatures: readonly Uint8Array[]): Uint8Array {
  let level = signatures.map((signature) => sha256(LEAF_PREFIX, signature));
  while (level.length > 1) {
    const below = level;
    // In a level with an odd number of nodes, the last node is paired with itself.
    level = below.flatMap((left, index) =>
      index % 2 === 0 ? [sha256(NODE_PREFIX, left, below[index + 1] ?? left)] : [],
    );
  }
  return level[0] ?? new Uint8Array(HASH_BYTES);
}

/** Source: agave entry/src/poh.rs, `record` and `tick`. @param mixin - signatures root; null for a tick. */
export const nextHash = (before: Uint8Array, mixin: Uint8Array | null): Uint8Array =>
  mixin === null ? hash('sha256', before, 'buffer') : sha256(before, mixin);

export type EncodableEntry = Readonly<{
  numHashes: bigint;
  /** 32 bytes. */
  hash: Uint8Array;
  transactions: readonly Uint8Array[];
}>;

export function encodeEntries(entries: readonly EncodableEntry[]): Uint8Array {
  const writer = new ByteWriter(1024);
  writer.u64(BigInt(entries.length));
  for (const { numHashes, hash, transactions } of entries) {
    writer.u64(numHashes).bytes(hash).u64(BigInt(transactions.length));
    for (const transaction of transactions) writer.bytes(transaction);
  }
  return writer.finish();
}
