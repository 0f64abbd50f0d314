import { type DataShred, payloadOf, type Shred } from '../../solana/shred/parse-shred.ts';
import { FEC_SET_DATA_SHREDS } from '../../solana/shred/shred-layout.ts';
import type { Slot } from '../../solana/units.ts';
import { FecSet } from './fec-set.ts';

const PRESENT = 1;
const COMPLETE = 2;
const FIRST_CAPACITY = 1_024;

/** From the first shred of a batch to its last, which completes its data. */
type ShredRange = Readonly<{ first: number; last: number }>;

/**
 * Which data shreds of a slot are there, and which of them make whole batches. Neighbours without the end of a batch
 * between them are a run; both ends of a run know the other, so a shred costs the same wherever it comes.
 */
class BatchRanges {
  #flags = new Uint8Array(FIRST_CAPACITY);
  #otherEnd = new Int32Array(FIRST_CAPACITY);
  /** How many shreds are there. */
  count = 0;
  /** Where the shred that was added last came in, if its batch has its beginning and no end yet. */
  openRange: ShredRange | null = null;
  /** The greatest place that is taken; -1 for none. */
  highest = -1;

  has(index: number): boolean {
    return ((this.#flags[index] ?? 0) & PRESENT) !== 0;
  }

  /**
   * Notes a shred that was not there.
   * @param isDataComplete - a batch ends with it.
   * @returns the batches that are whole with it: none, the one it is in, the one after it, or both.
   */
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
    // What comes after the end of a batch has its beginning now.
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

  /** There, and going on with the next. */
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

/** A data shred that waits for the rest of its batch. */
type Piece = Readonly<{ payload: Uint8Array; set: FecSet }>;

/** A run of data shreds that is whole, and what they carry. */
export type CompleteBatch = ShredRange & Readonly<{ payload: Uint8Array }>;

/** The verified shreds of one slot. */
export class SlotShreds {
  readonly slot: Slot;
  /** 32 bytes. */
  readonly leader: Uint8Array;
  readonly #sets = new Map<number, FecSet>();
  readonly #ranges = new BatchRanges();
  readonly #pieces = new Map<number, Piece>();
  /** First shreds of batches that were looked at before they were whole. */
  readonly #checkedEarly = new Set<number>();
  /** Of those, the ones whose entries were all there. */
  readonly #emittedEarly = new Set<number>();
  /** -1 until it is known. */
  #lastIndex = -1;
  parent: Slot | null = null;
  bytes = 0;
  /** It takes no more and holds nothing. */
  isClosed = false;

  constructor(slot: Slot, leader: Uint8Array) {
    this.slot = slot;
    this.leader = leader;
  }

  get setCount(): number {
    return this.#sets.size;
  }

  /** Whether all its data shreds have been there. */
  get isComplete(): boolean {
    return this.#lastIndex >= 0 && this.#ranges.count === this.#lastIndex + 1;
  }

  setOf(shred: Shred): FecSet | undefined {
    return this.#sets.get(shred.fecSetIndex);
  }

  /** Whether a shred's place is taken, or nobody needs it. */
  has(shred: Shred): boolean {
    if (shred.kind === 'data' && this.#ranges.has(shred.index)) return true;
    return this.setOf(shred)?.has(shred) ?? false;
  }

  /** Whether a shred that the leader signed is at odds with others that it signed. */
  contradicts(shred: Shred): boolean {
    if (this.setOf(shred)?.contradicts(shred) === true) return true;
    if (shred.kind === 'code') return false;
    if (this.parent !== null && shred.slot - BigInt(shred.parentOffset) !== this.parent) return true;
    if (shred.isLastInSlot && this.#lastIndex >= 0) return true;
    return this.#lastIndex >= 0
      ? shred.index > this.#lastIndex
      : shred.isLastInSlot && this.#isBefore(shred.index);
  }

  /** Whether shreds are there that come after a place. */
  #isBefore(index: number): boolean {
    return this.#ranges.highest > index;
  }

  /** @param root - verified; null for legacy shreds. */
  addSet(first: Shred, root: Uint8Array | null): FecSet {
    const set = new FecSet(first, root);
    this.#sets.set(first.fecSetIndex, set);
    return set;
  }

  /** How many sets do not name the root of the set before, as far as both are here. */
  get brokenChains(): number {
    const roots = new Map<number, Uint8Array>();
    for (const { end, proven } of this.#sets.values()) if (proven !== null) roots.set(end, proven.root);
    return [...this.#sets.values()].filter(({ fecSetIndex, chainedRoot }) => {
      const before = roots.get(fecSetIndex);
      return before !== undefined && chainedRoot !== null && Buffer.compare(before, chainedRoot) !== 0;
    }).length;
  }

  /**
   * Adds a verified shred that is not there and contradicts nothing.
   * @returns the batches that are whole with it.
   */
  add(shred: Shred, set: FecSet): CompleteBatch[] {
    // Packets belong to whoever read them, perhaps with much more memory around.
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
   * The batch that the shred added last came into, where it has its beginning and no end yet, and the last of its
   * shreds is not full: a leader fills what entries leave of a set with empty shreds, of which only the last says that
   * the data is complete. Given once for each batch. Source: agave ledger, `shred/merkle.rs`,
   * `make_shreds_from_data`.
   * @returns with the last shred of its set, where the end of the batch is to be expected.
   */
  takeOpenBatch(): CompleteBatch | null {
    const range = this.isClosed ? null : this.#ranges.openRange;
    if (range === null || this.#checkedEarly.has(range.first)) return null;
    const { payload, set } = this.#pieces.get(range.last) as Piece;
    if (payload.length >= set.dataPayloadMax) return null;
    this.#checkedEarly.add(range.first);
    const { first, last } = range;
    const pieces = Array.from({ length: last - first + 1 }, (_, i) => this.#pieces.get(first + i) as Piece);
    const end = set.end < 0 ? set.fecSetIndex + FEC_SET_DATA_SHREDS : set.end;
    return { first, last: end - 1, payload: Buffer.concat(pieces.map((piece) => piece.payload)) };
  }

  /** The entries of a batch that `takeBegun` gave were all there. */
  emittedEarly({ first }: ShredRange): void {
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
