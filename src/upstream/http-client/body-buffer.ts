import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { bufferPool, POOLED_MIN_BYTES } from '../../http/buffer-pool.ts';

const BLOCK_MIN_BYTES = 16 * 1024;
const BLOCK_MAX_BYTES = 1024 * 1024;
const EMPTY = Buffer.alloc(0);

/** The first room of a body whose length was announced, unless it is shorter. */
const BUFFER_MIN_BYTES = 64 * 1024;
/** What was only announced takes so many times the room of what has come, and no more. */
const BUFFER_GROWTH = 16;

/**
 * Gathers the body of a response out of the buffers that are read into, in memory that is counted. One whose length was
 * announced is copied into its place, which grows as it fills, so that an announcement alone takes nothing from others;
 * one that came within one read is copied once.
 */
export class BodyBuffer {
  /** Bytes gathered so far. */
  bytes = 0;
  readonly #budget: ByteBudget;
  /** What is taken from the budget. */
  #reserved = 0;
  /** How long it will be, where that was announced; else 0. */
  #contentLength = 0;
  /** Room for it, when its length was announced. */
  #buffer: Buffer = EMPTY;
  /** What came within this read and is not copied yet. */
  #pending: Buffer = EMPTY;
  #pendingStart = 0;
  #pendingEnd = 0;
  /** Full but for the last. */
  #blocks: Buffer[] | null = null;
  #lastBlockUsed = 0;
  #isOverBudget = false;

  /** @param budget - shared with the bodies of other connections. */
  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** There was no room for all of it: it is not whole. */
  get isOverBudget(): boolean {
    return this.#isOverBudget;
  }

  /** @param bytes - how long it will be. */
  expect(bytes: number): void {
    this.#contentLength = bytes;
  }

  add(bytes: Buffer, start: number, end: number): void {
    if (this.#contentLength > 0) {
      if (this.#ensureCapacity(this.bytes + end - start)) bytes.copy(this.#buffer, this.bytes, start, end);
    } else if (this.bytes === 0) {
      this.#pending = bytes;
      this.#pendingStart = start;
      this.#pendingEnd = end;
    } else {
      this.retain();
      this.#append(bytes, start, end);
    }
    this.bytes += end - start;
  }

  /** The buffer that was read into is used for something else from now on. */
  retain(): void {
    if (this.#pending === EMPTY) return;
    const pending = this.#pending;
    this.#pending = EMPTY;
    this.#append(pending, this.#pendingStart, this.#pendingEnd);
  }

  /** All of it in one piece, which stays untouched. */
  toBuffer(): Buffer {
    if (this.#contentLength > 0) return Buffer.from(this.#buffer.subarray(0, this.bytes));
    if (this.#pending !== EMPTY) return copyRange(this.#pending, this.#pendingStart, this.#pendingEnd);
    return this.#blocks === null ? EMPTY : Buffer.concat(this.#blocks, this.bytes);
  }

  /**
   * What has come of one that is passed on, in memory that `lentPieces` takes back: what was read into a room of it stays
   * there, unless it is too little to keep a room from others.
   * @param isLast - nothing else was read behind it.
   */
  piece(isLast: boolean): Buffer {
    const [pending, from, to] = [this.#pending, this.#pendingStart, this.#pendingEnd];
    if (pending === EMPTY) return this.toBuffer();
    const mayStay = isLast && to - from >= POOLED_MIN_BYTES && bufferPool.isPooled(pending);
    return mayStay ? pending.subarray(from, to) : bufferPool.copyOf(pending, from, to);
  }

  /** All of it in one piece; what follows is another body. */
  take(): Buffer {
    const body = this.#contentLength > 0 ? this.#buffer : this.toBuffer();
    this.clear();
    return body;
  }

  clear(): void {
    if (this.#reserved > 0) this.#budget.release(this.#reserved);
    this.bytes = 0;
    this.#reserved = 0;
    this.#contentLength = 0;
    this.#buffer = EMPTY;
    this.#pending = EMPTY;
    this.#blocks = null;
    this.#lastBlockUsed = 0;
    this.#isOverBudget = false;
  }

  /** Makes the place of an announced body large enough for so many bytes. It is as long as the body when that is whole. */
  #ensureCapacity(bytes: number): boolean {
    if (bytes <= this.#buffer.length) return true;
    const size = Math.min(this.#contentLength, Math.max(BUFFER_MIN_BYTES, BUFFER_GROWTH * this.bytes, bytes));
    if (this.#isOverBudget || !this.#take(size - this.#buffer.length)) return false;
    const before = this.#buffer;
    this.#buffer = Buffer.allocUnsafe(size);
    before.copy(this.#buffer, 0, 0, this.bytes);
    return true;
  }

  #append(bytes: Buffer, start: number, end: number): void {
    this.#blocks ??= [];
    let at = start;
    while (at < end) {
      const block = this.#blockFor(this.#blocks, end - at);
      if (block === null) return;
      const copiedBytes = bytes.copy(block, this.#lastBlockUsed, at, end);
      this.#lastBlockUsed += copiedBytes;
      at += copiedBytes;
    }
  }

  /** The last block, when there is room in it; else another; null when there is no room for it. */
  #blockFor(blocks: Buffer[], needed: number): Buffer | null {
    const last = blocks.at(-1);
    if (last !== undefined && this.#lastBlockUsed < last.length) return last;
    const size = Math.max(
      BLOCK_MIN_BYTES,
      Math.min(BLOCK_MAX_BYTES, Math.max(needed, (last?.length ?? 0) * 2)),
    );
    if (this.#isOverBudget || !this.#take(size)) return null;
    const block = Buffer.allocUnsafe(size);
    blocks.push(block);
    this.#lastBlockUsed = 0;
    return block;
  }

  #take(bytes: number): boolean {
    this.#isOverBudget = !this.#budget.tryReserve(bytes);
    if (!this.#isOverBudget) this.#reserved += bytes;
    return !this.#isOverBudget;
  }
}

function copyRange(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}
