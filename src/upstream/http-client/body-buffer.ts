import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { bufferPool, POOLED_MIN_BYTES } from '../../http/buffer-pool.ts';

const BLOCK_MIN_BYTES = 16 * 1024;
const BLOCK_MAX_BYTES = 1024 * 1024;
const EMPTY = Buffer.alloc(0);

/** First buffer for an announced length, unless it is shorter. */
const BUFFER_MIN_BYTES = 64 * 1024;
/** The buffer is at most this many times the received bytes. */
const BUFFER_GROWTH = 16;

/**
 * Buffers a response body within a memory budget. A body of announced length is copied into a buffer that
 * grows as it fills, so that the announcement alone reserves little; a body received in one read is copied
 * once.
 */
export class BodyBuffer {
  bytes = 0;
  readonly #budget: ByteBudget;
  #reserved = 0;
  #contentLength = 0;
  #buffer: Buffer = EMPTY;
  #pending: Buffer = EMPTY;
  #pendingStart = 0;
  #pendingEnd = 0;
  /** All full but the last. */
  #blocks: Buffer[] | null = null;
  #lastBlockUsed = 0;
  #isOverBudget = false;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** The budget was exhausted: the body is incomplete. */
  get isOverBudget(): boolean {
    return this.#isOverBudget;
  }

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

  /** Copies pending bytes: the read buffer will be reused. */
  retain(): void {
    if (this.#pending === EMPTY) return;
    const pending = this.#pending;
    this.#pending = EMPTY;
    this.#append(pending, this.#pendingStart, this.#pendingEnd);
  }

  toBuffer(): Buffer {
    if (this.#contentLength > 0) return Buffer.from(this.#buffer.subarray(0, this.bytes));
    if (this.#pending !== EMPTY) return copyRange(this.#pending, this.#pendingStart, this.#pendingEnd);
    return this.#blocks === null ? EMPTY : Buffer.concat(this.#blocks, this.bytes);
  }

  /**
   * Received part of a streamed body. Stays in its pooled buffer, unless it is too small to occupy one.
   * @param isLast - nothing else was read after it.
   */
  piece(isLast: boolean): Buffer {
    const [pending, from, to] = [this.#pending, this.#pendingStart, this.#pendingEnd];
    if (pending === EMPTY) return this.toBuffer();
    const mayStay = isLast && to - from >= POOLED_MIN_BYTES && bufferPool.isPooled(pending);
    return mayStay ? pending.subarray(from, to) : bufferPool.copyOf(pending, from, to);
  }

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

  /** Grows the buffer of an announced body; has exactly its length when complete. */
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

  /** Block with free space; null if the budget is exhausted. */
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
