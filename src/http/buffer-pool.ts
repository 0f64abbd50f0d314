/** As much as is read from a connection to a node at a time: so much that how often counts little for answers of 1 MiB. */
export const READ_MAX_BYTES = 256 * 1024;
/** Shorter pieces have memory of their own: a room would mostly be empty. */
export const POOLED_MIN_BYTES = 16 * 1024;

/** Free memory in front of each room, for what was held back of the piece before. */
const HEADROOM_BYTES = 64;

/** Rooms of one size that lie ready, for all connections together. */
type SizeClass = Readonly<{ bytes: number; freeMax: number; free: ArrayBufferLike[] }>;

/** By size; 20 MiB in all. */
const sizeClass = (): readonly SizeClass[] => [
  { bytes: 64 * 1024, freeMax: 64, free: [] },
  { bytes: READ_MAX_BYTES, freeMax: 64, free: [] },
];

/**
 * Memory for the pieces of long bodies that are passed on while they come. Memory that is new for each piece is paid for
 * three times over by the garbage collector, which is called by how much of it there was; a room that is used again costs no
 * more than the copy. Whoever has written a piece gives it back; one that nobody gives back is the collector's.
 */
export class BufferPool {
  readonly #sizeClasses = sizeClass();
  readonly #pooled = new WeakMap<ArrayBufferLike, SizeClass>();

  /** Bytes of rooms that lie ready. */
  get freeBytes(): number {
    return this.#sizeClasses.reduce((sum, { bytes, free }) => sum + bytes * free.length, 0);
  }

  /** Memory to read a piece into, as much as is read at a time. */
  allocate(): Buffer {
    return this.#take(this.#sizeClasses[this.#sizeClasses.length - 1] as SizeClass);
  }

  /** Whether a piece stands in memory that was lent here. */
  isPooled({ buffer }: Buffer): boolean {
    return this.#pooled.has(buffer);
  }

  /** A copy of these bytes, which is its reader's until that gives it back. */
  copyOf(bytes: Buffer, start: number, end: number): Buffer {
    const length = end - start;
    const sizeClass =
      length < POOLED_MIN_BYTES ? undefined : this.#sizeClasses.find((each) => length <= each.bytes);
    const piece = sizeClass === undefined ? Buffer.allocUnsafe(length) : this.#take(sizeClass);
    bytes.copy(piece, 0, start, end);
    return piece.length === length ? piece : piece.subarray(0, length);
  }

  /** A piece behind what was held back of the one before: in its own memory, where there is room for that. Takes both. */
  prepend(prefix: Buffer, piece: Buffer): Buffer {
    const { length } = prefix;
    if (length === 0) return piece;
    if (length > HEADROOM_BYTES || piece.byteOffset !== HEADROOM_BYTES || !this.isPooled(piece)) {
      const joined = Buffer.concat([prefix, piece]);
      this.release(prefix);
      this.release(piece);
      return joined;
    }
    const combined = Buffer.from(piece.buffer, HEADROOM_BYTES - length, length + piece.length);
    prefix.copy(combined);
    return combined;
  }

  /** Nobody looks at a piece, or at a part of one, any more. Of memory that was not lent here nothing becomes. */
  release({ buffer }: Buffer): void {
    const sizeClass = this.#pooled.get(buffer);
    if (sizeClass === undefined) return;
    this.#pooled.delete(buffer);
    if (sizeClass.free.length < sizeClass.freeMax) sizeClass.free.push(buffer);
  }

  #take(sizeClass: SizeClass): Buffer {
    const memory = sizeClass.free.pop() ?? Buffer.allocUnsafeSlow(HEADROOM_BYTES + sizeClass.bytes).buffer;
    this.#pooled.set(memory, sizeClass);
    return Buffer.from(memory, HEADROOM_BYTES, sizeClass.bytes);
  }
}

/** Those of the process. */
export const bufferPool = new BufferPool();
