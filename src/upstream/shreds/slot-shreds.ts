import { type DataShred, payloadOf, type Shred } from '../../solana/shred/parse-shred.ts';
import { FEC_SET_DATA_SHREDS } from '../../solana/shred/shred-layout.ts';
import type { Slot } from '../../solana/units.ts';
import { FecSet } from './fec-set.ts';

const PRESENT = 1;
const COMPLETE = 2;
const FIRST_CAPACITY = 1_024;

/** Range of a batch's shreds; `first` and `last` are inclusive. */
type ShredRange = Readonly<{ first: number; last: number }>;

/** Adjacent shreds of a batch form a run. Each end stores the other end's index, so adding takes constant time. */
class BatchRanges {
  #flags = new Uint8Array(FIRST_CAPACITY);
  #otherEnd = new Int32Array(FIRST_CAPACITY);
  count = 0;
  /** Run of the last added shred, if its batch has a start but no end yet. */
  openRange: ShredRange | null = null;
  highest = -1;

  has(index: number): boolean {
    return ((this.#flags[index] ?? 0) & PRESENT) !== 0;
  }

  /** Returns the batches that a new shred completes: its own batch, the next batch, both, or neither. */
  add(index: number, isDataComplete: boolean): ShredRange[] {
    this.#reserve(index);
    this.#flags[index] = isDataComplete ? PRESENT | COMPLETE : PRESENT;
    this.count++;
    this.highest = Math.max(this.highest, index);
    const first = this.#isOpen(index - 1) ? (this.#otherEnd[index - 1] as number) : index;
    const last = !isDataComplete && this.has(index + 1) ? (this.#otherEnd[index + 1] as number) : index;
    this.#otherEnd[first] = last;
    this.#otherEnd[last] = first;
    const complete = this.#isComplete(first, last) ? [{ first, last }] : [];
    this.openRange = this.#hasStart(first) && this.#isOpen(last) ? { first, last } : null;
    // The next batch now has its start.
    if (isDataComplete && this.has(index + 1)) {
      const next = { first: index + 1, last: this.#otherEnd[index + 1] as number };
      if (this.#isComplete(next.first, next.last)) complete.push(next);
    }
    return complete;
  }

  #reserve(index: number): void {
    if (index < this.#flags.length) return;
    const capacity = Math.max(index + 1, this.#flags.length * 2);
    const [flags, otherEnd] = [new Uint8Array(capacity), new Int32Array(capacity)];
    flags.set(this.#flags);
    otherEnd.set(this.#otherEnd);
    [this.#flags, this.#otherEnd] = [flags, otherEnd];
  }

  /** Whether the shred is present and does not end a batch. */
  #isOpen(index: number): boolean {
    return this.#flags[index] === PRESENT;
  }

  #isComplete(first: number, last: number): boolean {
    if (((this.#flags[last] as number) & COMPLETE) === 0) return false;
    return this.#hasStart(first);
  }

  #hasStart(first: number): boolean {
    return first === 0 || ((this.#flags[first - 1] as number) & COMPLETE) !== 0;
  }
}

type Piece = Readonly<{ payload: Uint8Array; set: FecSet }>;

export type CompleteBatch = ShredRange & Readonly<{ payload: Uint8Array }>;

export class SlotShreds {
  readonly slot: Slot;
  readonly leader: Uint8Array;
  readonly #sets = new Map<number, FecSet>();
  readonly #ranges = new BatchRanges();
  readonly #pieces = new Map<number, Piece>();
  /** First indexes of the batches that were checked before they were complete. */
  readonly #checkedEarly = new Set<number>();
  /** First indexes of the batches that were emitted before they were complete. */
  readonly #emittedEarly = new Set<number>();
  #lastIndex = -1;
  parent: Slot | null = null;
  bytes = 0;
  isClosed = false;

  constructor(slot: Slot, leader: Uint8Array) {
    this.slot = slot;
    this.leader = leader;
  }

  get setCount(): number {
    return this.#sets.size;
  }

  get isComplete(): boolean {
    return this.#lastIndex >= 0 && this.#ranges.count === this.#lastIndex + 1;
  }

  setOf(shred: Shred): FecSet | undefined {
    return this.#sets.get(shred.fecSetIndex);
  }

  has(shred: Shred): boolean {
    if (shred.kind === 'data' && this.#ranges.has(shred.index)) return true;
    return this.setOf(shred)?.has(shred) ?? false;
  }

  /** Whether a signed shred is inconsistent with other signed shreds of the slot. */
  contradicts(shred: Shred): boolean {
    if (this.setOf(shred)?.contradicts(shred) === true) return true;
    if (shred.kind === 'code') return false;
    if (this.parent !== null && shred.slot - BigInt(shred.parentOffset) !== this.parent) return true;
    if (shred.isLastInSlot && this.#lastIndex >= 0) return true;
    return this.#lastIndex >= 0
      ? shred.index > this.#lastIndex
      : shred.isLastInSlot && this.#ranges.highest > shred.index;
  }

  /** @param root - verified merkle root; null for legacy shreds. */
  addSet(first: Shred, root: Uint8Array | null): FecSet {
    const set = new FecSet(first, root);
    this.#sets.set(first.fecSetIndex, set);
    return set;
  }

  /** Number of sets whose chained root differs from the root of the previous set. */
  get brokenChains(): number {
    const roots = new Map<number, Uint8Array>();
    for (const { nextSetIndex, proven } of this.#sets.values())
      if (proven !== null) roots.set(nextSetIndex, proven.root);
    return [...this.#sets.values()].filter(({ fecSetIndex, chainedRoot }) => {
      const before = roots.get(fecSetIndex);
      return before !== undefined && chainedRoot !== null && Buffer.compare(before, chainedRoot) !== 0;
    }).length;
  }

  /** The shred must be verified, new and consistent. Returns the batches that it completes. */
  add(shred: Shred, set: FecSet): CompleteBatch[] {
    // Copied, because the packet may be a view of a larger buffer.
    const bytes = new Uint8Array(shred.bytes);
    const before = set.bytes;
    set.add(shred, bytes);
    this.bytes += set.bytes - before;
    return shred.kind === 'data' ? this.#addPiece({ ...shred, bytes }, set) : [];
  }

  #addPiece(shred: DataShred, set: FecSet): CompleteBatch[] {
    this.parent ??= (shred.slot - BigInt(shred.parentOffset)) as Slot;
    if (shred.isLastInSlot) this.#lastIndex = shred.index;
    this.#pieces.set(shred.index, { payload: payloadOf(shred), set });
    return this.#ranges
      .add(shred.index, shred.isDataComplete)
      .map((range) => ({ ...range, payload: this.#takeRange(range) }));
  }

  /**
   * The open batch of the most recent shred, if its run ends in a shred that is not full. `last` is the expected end
   * of the batch: leaders pad the rest of a set with empty shreds, and only the last of these ends the batch. Returns
   * each batch only once. Source: agave ledger, `shred/merkle.rs`, `make_shreds_from_data`.
   */
  takeOpenBatch(): CompleteBatch | null {
    const range = this.isClosed ? null : this.#ranges.openRange;
    if (range === null || this.#checkedEarly.has(range.first)) return null;
    const { payload, set } = this.#pieces.get(range.last) as Piece;
    if (payload.length >= set.dataPayloadMax) return null;
    this.#checkedEarly.add(range.first);
    const { first, last } = range;
    const pieces = Array.from({ length: last - first + 1 }, (_, i) => this.#pieces.get(first + i) as Piece);
    const end = set.nextSetIndex < 0 ? set.fecSetIndex + FEC_SET_DATA_SHREDS : set.nextSetIndex;
    return { first, last: end - 1, payload: Buffer.concat(pieces.map((piece) => piece.payload)) };
  }

  markEmittedEarly({ first }: ShredRange): void {
    this.#emittedEarly.add(first);
  }

  wasEmittedEarly({ first }: ShredRange): boolean {
    return this.#emittedEarly.has(first);
  }

  #takeRange({ first, last }: ShredRange): Uint8Array {
    const pieces: Piece[] = [];
    for (let index = first; index <= last; index++) {
      pieces.push(this.#pieces.get(index) as Piece);
      this.#pieces.delete(index);
    }
    for (const { set } of pieces) {
      const before = set.bytes;
      set.releaseData();
      this.bytes += set.bytes - before;
    }
    return Buffer.concat(pieces.map(({ payload }) => payload));
  }

  close(): void {
    this.isClosed = true;
    this.#sets.clear();
    this.#pieces.clear();
    this.#checkedEarly.clear();
    this.#emittedEarly.clear();
    this.bytes = 0;
  }
}
