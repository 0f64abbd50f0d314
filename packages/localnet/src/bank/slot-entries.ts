import type { EntryUpdate } from '../../../../src/protocol/geyser/update/entry.ts';
import { blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { nextHash, signaturesRoot } from '../../../../src/solana/entries.ts';
import { signatureBytes } from '../../../../src/solana/signature.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import { slot } from '../../../../src/solana/units.ts';

export const HASHES_PER_ENTRY = 1n;

/** Entry of a slot's PoH chain. */
export type RecordedEntry = Readonly<{
  /** Entry index within the slot. */
  index: number;
  hash: Uint8Array;
  /** Merkle root of the transaction's signatures; null for a tick. */
  mixin: Uint8Array | null;
}>;

/** Entry of an executed or rejected transaction, or a tick. */
export type SlotEntry = Readonly<{
  index: number;
  hash: Uint8Array;
  executedTransactionCount: number;
  startingTransactionIndex: number;
}>;

export const mixinOf = ({ signatures }: Pick<Transaction, 'signatures'>): Uint8Array =>
  signaturesRoot(signatures.map(signatureBytes));

/**
 * PoH entries of one slot, from the parent blockhash to its own: one per transaction, then ticks. Unlike on
 * Solana, each entry is a single hash, so the chain proves order but not time.
 */
export class SlotEntries {
  /** Completed entries in order. */
  readonly emitted: SlotEntry[] = [];
  /** Mixins of announced transactions that were rejected: in the chain, but not in the block. */
  readonly rejected = new Map<number, Uint8Array>();
  #hash: Uint8Array;
  #count = 0;
  #transactions = 0;

  /** @param before - parent blockhash, 32 bytes. */
  constructor(before: Uint8Array) {
    this.#hash = before;
  }

  record(mixin: Uint8Array): RecordedEntry {
    return this.#add(mixin);
  }

  /** Rolls back the recorded entries if `recording` throws. */
  atomically(recording: () => void): void {
    const [before, count] = [this.#hash, this.#count];
    try {
      recording();
    } catch (error) {
      this.#hash = before;
      this.#count = count;
      throw error;
    }
  }

  /** Completes the entry of the next transaction in the block. */
  addExecuted({ index, hash }: RecordedEntry): SlotEntry {
    return this.#emit({ index, hash, executedTransactionCount: 1 });
  }

  /** Completes the entry of a transaction that is not part of the block. */
  addRejected({ index, hash, mixin }: RecordedEntry): SlotEntry {
    if (mixin !== null) this.rejected.set(index, mixin);
    return this.#emit({ index, hash, executedTransactionCount: 0 });
  }

  /** Adds ticks. The hash of the last one is the blockhash. */
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
 * Rebuilds the entries of a frozen slot.
 * @param rejected - as in `SlotEntries`.
 */
export function entriesOf(
  before: Uint8Array,
  transactions: readonly Pick<Transaction, 'signatures'>[],
  rejected: ReadonlyMap<number, Uint8Array>,
  ticks: number,
): readonly SlotEntry[] {
  const entries = new SlotEntries(before);
  let next = 0;
  for (let index = 0; index < transactions.length + rejected.size; index++) {
    const mixin = rejected.get(index);
    if (mixin !== undefined) entries.addRejected(entries.record(mixin));
    else entries.addExecuted(entries.record(mixinOf(transactions[next++] ?? { signatures: [] })));
  }
  entries.tick(ticks);
  return entries.emitted;
}

export const entryEvent = (number: number, { hash, ...entry }: SlotEntry): EntryUpdate => ({
  kind: 'entry',
  slot: slot(number),
  numHashes: HASHES_PER_ENTRY,
  hash: blockhashFromBytes(hash),
  ...entry,
});
