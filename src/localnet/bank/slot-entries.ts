import type { EntryUpdate } from '../../protocol/geyser/update/entry.ts';
import { blockhashFromBytes } from '../../solana/blockhash.ts';
import { nextHash, signaturesRoot } from '../../solana/entries.ts';
import { signatureBytes } from '../../solana/signature.ts';
import type { Transaction } from '../../solana/transaction/transaction.ts';
import { slot } from '../../solana/units.ts';

/** Hashes from an entry to the next. */
export const HASHES_PER_ENTRY = 1n;

/** A link of a slot's chain. */
export type RecordedEntry = Readonly<{
  /** Of the entry in its slot. */
  index: number;
  hash: Uint8Array;
  /** The root of its transaction's signatures; null for a tick. */
  mixin: Uint8Array | null;
}>;

/** A link whose transaction has run, or was refused. */
export type SlotEntry = Readonly<{
  index: number;
  hash: Uint8Array;
  executedTransactionCount: number;
  startingTransactionIndex: number;
}>;

/** What a transaction does to the hash of its entry. */
export const mixinOf = ({ signatures }: Pick<Transaction, 'signatures'>): Uint8Array =>
  signaturesRoot(signatures.map(signatureBytes));

/**
 * The entries of one slot: a chain of hashes that begins at the blockhash below and ends in the slot's own. Each
 * transaction has an entry, then come the ticks. As in Solana, but that one hash lies between two entries, so the
 * chain proves order and no time.
 */
export class SlotEntries {
  /** What has run, in order. */
  readonly emitted: SlotEntry[] = [];
  /** Of entries whose transaction was refused when it ran: it is in no block, and its signatures are in the chain. */
  readonly refused = new Map<number, Uint8Array>();
  #hash: Uint8Array;
  #count = 0;
  #transactions = 0;

  /** @param before - the 32 bytes of the blockhash below. */
  constructor(before: Uint8Array) {
    this.#hash = before;
  }

  /** Adds a transaction, which is going to run. */
  record(mixin: Uint8Array): RecordedEntry {
    return this.#add(mixin);
  }

  /**
   * Runs what records transactions; where it throws, they were never recorded.
   * @throws what it throws.
   */
  allOrNothing(recording: () => void): void {
    const [before, count] = [this.#hash, this.#count];
    try {
      recording();
    } catch (error) {
      this.#hash = before;
      this.#count = count;
      throw error;
    }
  }

  /** The entry's transaction has run and is the next in the block. */
  ran({ index, hash }: RecordedEntry): SlotEntry {
    return this.#emit({ index, hash, executedTransactionCount: 1 });
  }

  /** The entry's transaction did not come into the block after all. */
  refuse({ index, hash, mixin }: RecordedEntry): SlotEntry {
    if (mixin !== null) this.refused.set(index, mixin);
    return this.#emit({ index, hash, executedTransactionCount: 0 });
  }

  /** Ends the slot. The hash of the last tick is the slot's blockhash. */
  tick(count: number): SlotEntry[] {
    return Array.from({ length: count }, () =>
      this.#emit({ ...this.#add(null), executedTransactionCount: 0 }),
    );
  }

  #add(mixin: Uint8Array | null): RecordedEntry {
    this.#hash = nextHash(this.#hash, mixin);
    return { index: this.#count++, hash: this.#hash, mixin };
  }

  #emit({ index, hash, executedTransactionCount }: Omit<SlotEntry, 'startingTransactionIndex'>): SlotEntry {
    const startingTransactionIndex = this.#transactions;
    this.#transactions += executedTransactionCount;
    const entry = { index, hash, executedTransactionCount, startingTransactionIndex };
    this.emitted.push(entry);
    return entry;
  }
}

/**
 * The entries of a slot that froze, made again.
 * @param refused - as `SlotEntries` noted them.
 */
export function entriesOf(
  before: Uint8Array,
  transactions: readonly Pick<Transaction, 'signatures'>[],
  refused: ReadonlyMap<number, Uint8Array>,
  ticks: number,
): readonly SlotEntry[] {
  const entries = new SlotEntries(before);
  let next = 0;
  for (let index = 0; index < transactions.length + refused.size; index++) {
    const mixin = refused.get(index);
    if (mixin !== undefined) entries.refuse(entries.record(mixin));
    else entries.ran(entries.record(mixinOf(transactions[next++] ?? { signatures: [] })));
  }
  entries.tick(ticks);
  return entries.emitted;
}

/** An entry as listeners are told of it. */
export const entryEvent = (number: number, { hash, ...entry }: SlotEntry): EntryUpdate => ({
  kind: 'entry',
  slot: slot(number),
  numHashes: HASHES_PER_ENTRY,
  hash: blockhashFromBytes(hash),
  ...entry,
});
