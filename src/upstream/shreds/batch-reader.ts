import type { RawKeys } from '../../protocol/geyser/raw-update.ts';
import { encodeWireTransaction } from '../../protocol/geyser/storage/encode-transaction.ts';
import { readTransactions } from '../../solana/entries.ts';
import type { WireTransaction } from '../../solana/transaction/wire-transaction.ts';
import type { Slot } from '../../solana/units.ts';
import type { DeshredListener, DeshredTransaction, EntryBatch } from '../../streams/deshred/deshred-event.ts';
import type { LoadedAddresses, LookupTables } from './lookup-tables.ts';

type BatchReaderOptions = Readonly<{
  tables: Pick<LookupTables, 'resolve'>;
  listener: Pick<DeshredListener, 'onBatch'> &
    Readonly<{
      /** Called after `onBatch`, with all transactions of the batch. */
      transactions: (transactions: readonly DeshredTransaction[]) => void;
    }>;
}>;

const KEY_BYTES = 32;
const NO_ADDRESSES: LoadedAddresses = { writable: [], readonly: [] };

function joinedKeys(
  { bytes, keyOffsets }: WireTransaction,
  { writable, readonly }: LoadedAddresses,
): RawKeys {
  const loadedCount = writable.length + readonly.length;
  if (loadedCount === 0) return { bytes, offsets: keyOffsets };
  const [start = 0] = keyOffsets;
  const count = keyOffsets.length + loadedCount;
  const joined = Buffer.allocUnsafe(count * KEY_BYTES);
  joined.set(bytes.subarray(start, start + keyOffsets.length * KEY_BYTES));
  let at = keyOffsets.length * KEY_BYTES;
  for (const list of [writable, readonly]) {
    for (const key of list) {
      joined.set(key, at);
      at += KEY_BYTES;
    }
  }
  return { bytes: joined, offsets: Array.from({ length: count }, (_, index) => index * KEY_BYTES) };
}

/** Encoded as protobuf on first use. */
class BatchTransaction implements DeshredTransaction {
  readonly #batch: EntryBatch;
  readonly #loaded: LoadedAddresses;
  readonly #wire: Uint8Array;
  #transaction: Uint8Array | null = null;
  readonly signature: Uint8Array;
  readonly isVote: boolean;
  readonly keys: RawKeys;

  constructor(batch: EntryBatch, view: WireTransaction, loaded: LoadedAddresses) {
    this.#batch = batch;
    this.#loaded = loaded;
    this.signature = view.signature;
    this.isVote = view.isVote;
    this.#wire = view.bytes;
    this.keys = joinedKeys(view, loaded);
  }

  get transaction(): Uint8Array {
    this.#transaction ??= encodeWireTransaction(this.#wire).transaction;
    return this.#transaction;
  }

  get slot(): Slot {
    return this.#batch.slot;
  }

  get at(): bigint {
    return this.#batch.at;
  }

  get firstShredIndex(): number {
    return this.#batch.firstShredIndex;
  }

  get endShredIndex(): number {
    return this.#batch.endShredIndex;
  }

  get loadedWritable(): readonly Uint8Array[] {
    return this.#loaded.writable;
  }

  get loadedReadonly(): readonly Uint8Array[] {
    return this.#loaded.readonly;
  }
}

/** Reads batches of entries: emits each, then its transactions with their loaded addresses. */
export class BatchReader {
  readonly #options: BatchReaderOptions;
  batches = 0;
  /** Batches without readable entries. */
  malformed = 0;
  /** Transactions of a version that streams cannot represent; they remain in the batch. */
  unknown = 0;

  constructor(options: BatchReaderOptions) {
    this.#options = options;
  }

  read(batch: EntryBatch): void {
    const { listener } = this.#options;
    const read = readTransactions(batch.entries);
    if (read === null) {
      this.malformed++;
      return;
    }
    // Alpenglow block marker.
    if (read.entries === 0) return;
    this.batches++;
    listener.onBatch(batch);
    const emitted: DeshredTransaction[] = [];
    for (const view of read.transactions) {
      if (view.version === 1) this.unknown++;
      else emitted.push(new BatchTransaction(batch, view, this.#loadedAddresses(view, batch.slot)));
    }
    listener.transactions(emitted);
  }

  #loadedAddresses({ lookups }: WireTransaction, slot: Slot): LoadedAddresses {
    return lookups.length === 0
      ? NO_ADDRESSES
      : (this.#options.tables.resolve(lookups, slot) ?? NO_ADDRESSES);
  }
}
