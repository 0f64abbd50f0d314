import type { ByteBudget } from '../../base/byte-budget.ts';
import { LENT_FROM_BYTES, lentPieces } from '../../http1/lent-pieces.ts';

const BLOCK_MIN_BYTES = 16 * 1024;
const BLOCK_MAX_BYTES = 1024 * 1024;
const NONE = Buffer.alloc(0);

/** The first room of a body whose length was announced, unless it is shorter. */
const ROOM_LEAST_BYTES = 64 * 1024;
/** What was only announced takes so many times the room of what has come, and no more. */
const ROOM_TIMES = 16;

/**
 * Gathers the body of a response out of the buffers that are read into, in memory that is counted. One whose length was
 * announced is copied into its place, which grows as it fills, so that an announcement alone takes nothing from others;
 * one that came within one read is copied once.
 */
export class GatheredBody {
  /** Bytes gathered so far. */
  bytes = 0;
  readonly #budget: ByteBudget;
  /** What is taken from the budget. */
  #held = 0;
  /** How long it will be, where that was announced; else 0. */
  #announced = 0;
  /** Room for it, when its length was announced. */
  #room: Buffer = NONE;
  /** What came within this read and is not copied yet. */
  #seen: Buffer = NONE;
  #seenFrom = 0;
  #seenTo = 0;
  /** Full but for the last. */
  #blocks: Buffer[] | null = null;
  #usedOfLast = 0;
  #isRefused = false;

  /** @param budget - shared with the bodies of other connections. */
  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** There was no room for all of it: it is not whole. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** @param bytes - how long it will be. */
  expect(bytes: number): void {
    this.#announced = bytes;
  }

  add(bytes: Buffer, start: number, end: number): void {
    if (this.#announced > 0) {
      if (this.#hasRoom(this.bytes + end - start)) bytes.copy(this.#room, this.bytes, start, end);
    } else if (this.bytes === 0) {
      this.#seen = bytes;
      this.#seenFrom = start;
      this.#seenTo = end;
    } else {
      this.keep();
      this.#append(bytes, start, end);
    }
    this.bytes += end - start;
  }

  /** The buffer that was read into is used for something else from now on. */
  keep(): void {
    if (this.#seen === NONE) return;
    const seen = this.#seen;
    this.#seen = NONE;
    this.#append(seen, this.#seenFrom, this.#seenTo);
  }

  /** All of it in one piece, which stays untouched. */
  copied(): Buffer {
    if (this.#announced > 0) return Buffer.from(this.#room.subarray(0, this.bytes));
    if (this.#seen !== NONE) return copyOf(this.#seen, this.#seenFrom, this.#seenTo);
    return this.#blocks === null ? NONE : Buffer.concat(this.#blocks, this.bytes);
  }

  /**
   * What has come of one that is passed on, in memory that `lentPieces` takes back: what was read into a room of it stays
   * there, unless it is too little to keep a room from others.
   * @param isLast - nothing else was read behind it.
   */
  piece(isLast: boolean): Buffer {
    const [seen, from, to] = [this.#seen, this.#seenFrom, this.#seenTo];
    if (seen === NONE) return this.copied();
    const mayStay = isLast && to - from >= LENT_FROM_BYTES && lentPieces.isLent(seen);
    return mayStay ? seen.subarray(from, to) : lentPieces.copyOf(seen, from, to);
  }

  /** All of it in one piece; what follows is another body. */
  take(): Buffer {
    const body = this.#announced > 0 ? this.#room : this.copied();
    this.clear();
    return body;
  }

  clear(): void {
    if (this.#held > 0) this.#budget.giveBack(this.#held);
    this.bytes = 0;
    this.#held = 0;
    this.#announced = 0;
    this.#room = NONE;
    this.#seen = NONE;
    this.#blocks = null;
    this.#usedOfLast = 0;
    this.#isRefused = false;
  }

  /** Makes the place of an announced body large enough for so many bytes. It is as long as the body when that is whole. */
  #hasRoom(bytes: number): boolean {
    if (bytes <= this.#room.length) return true;
    const size = Math.min(this.#announced, Math.max(ROOM_LEAST_BYTES, ROOM_TIMES * this.bytes, bytes));
    if (this.#isRefused || !this.#take(size - this.#room.length)) return false;
    const before = this.#room;
    this.#room = Buffer.allocUnsafe(size);
    before.copy(this.#room, 0, 0, this.bytes);
    return true;
  }

  #append(bytes: Buffer, start: number, end: number): void {
    this.#blocks ??= [];
    let at = start;
    while (at < end) {
      const block = this.#blockFor(this.#blocks, end - at);
      if (block === null) return;
      const copied = bytes.copy(block, this.#usedOfLast, at, end);
      this.#usedOfLast += copied;
      at += copied;
    }
  }

  /** The last block, when there is room in it; else another; null when there is no room for it. */
  #blockFor(blocks: Buffer[], wanted: number): Buffer | null {
    const last = blocks.at(-1);
    if (last !== undefined && this.#usedOfLast < last.length) return last;
    const size = Math.max(
      BLOCK_MIN_BYTES,
      Math.min(BLOCK_MAX_BYTES, Math.max(wanted, (last?.length ?? 0) * 2)),
    );
    if (this.#isRefused || !this.#take(size)) return null;
    const block = Buffer.allocUnsafe(size);
    blocks.push(block);
    this.#usedOfLast = 0;
    return block;
  }

  #take(bytes: number): boolean {
    this.#isRefused = !this.#budget.take(bytes);
    if (!this.#isRefused) this.#held += bytes;
    return !this.#isRefused;
  }
}

function copyOf(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}
