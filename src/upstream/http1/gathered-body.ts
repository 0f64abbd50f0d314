const BLOCK_MIN_BYTES = 16 * 1024;
const BLOCK_MAX_BYTES = 1024 * 1024;
const NONE = Buffer.alloc(0);

/**
 * Gathers the body of a response out of the buffers that are read into, in as much memory as it has. One whose length was
 * announced is copied once, into its place; so is one that came within one read.
 */
export class GatheredBody {
  /** Bytes gathered so far. */
  bytes = 0;
  /** Room for all of it, when its length was announced. */
  #room: Buffer | null = null;
  /** What came within this read and is not copied yet. */
  #seen: Buffer = NONE;
  #seenFrom = 0;
  #seenTo = 0;
  /** Full but for the last. */
  #blocks: Buffer[] | null = null;
  #usedOfLast = 0;

  /** @param bytes - how long it will be. */
  expect(bytes: number): void {
    this.#room = Buffer.allocUnsafe(bytes);
  }

  add(bytes: Buffer, start: number, end: number): void {
    if (this.#room !== null) {
      bytes.copy(this.#room, this.bytes, start, end);
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
    if (this.#room !== null) return Buffer.from(this.#room.subarray(0, this.bytes));
    if (this.#seen !== NONE) return copyOf(this.#seen, this.#seenFrom, this.#seenTo);
    return this.#blocks === null ? NONE : Buffer.concat(this.#blocks, this.bytes);
  }

  /** All of it in one piece; what follows is another body. */
  take(): Buffer {
    const body = this.#room ?? this.copied();
    this.clear();
    return body;
  }

  clear(): void {
    this.bytes = 0;
    this.#room = null;
    this.#seen = NONE;
    this.#blocks = null;
    this.#usedOfLast = 0;
  }

  #append(bytes: Buffer, start: number, end: number): void {
    this.#blocks ??= [];
    let at = start;
    while (at < end) {
      const block = this.#blockFor(this.#blocks, end - at);
      const copied = bytes.copy(block, this.#usedOfLast, at, end);
      this.#usedOfLast += copied;
      at += copied;
    }
  }

  /** The last block, when there is room in it; else another. */
  #blockFor(blocks: Buffer[], wanted: number): Buffer {
    const last = blocks.at(-1);
    if (last !== undefined && this.#usedOfLast < last.length) return last;
    const size = Math.max(
      BLOCK_MIN_BYTES,
      Math.min(BLOCK_MAX_BYTES, Math.max(wanted, (last?.length ?? 0) * 2)),
    );
    const block = Buffer.allocUnsafe(size);
    blocks.push(block);
    this.#usedOfLast = 0;
    return block;
  }
}

function copyOf(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}
