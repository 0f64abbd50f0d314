/** Maximum bytes per read from a node connection. Large, so that a 1 MiB response takes only a few reads. */
export const READ_MAX_BYTES = 256 * 1024;
/** Smaller chunks are allocated separately, because they would leave a pooled buffer mostly empty. */
export const POOLED_MIN_BYTES = 16 * 1024;

/** Space before each chunk, for bytes held back from the previous chunk. */
const HEADROOM_BYTES = 64;

type SizeClass = Readonly<{ bytes: number; freeMax: number; free: ArrayBufferLike[] }>;

/** Up to 20 MiB of free buffers in total. */
const createSizeClasses = (): readonly [SizeClass, SizeClass] => [
  { bytes: 64 * 1024, freeMax: 64, free: [] },
  { bytes: READ_MAX_BYTES, freeMax: 64, free: [] },
];

/**
 * Reuses buffers for chunks of streamed bodies, to reduce garbage collection. The code that writes a chunk to a
 * client releases it; chunks that are never released are garbage collected.
 */
export class BufferPool {
  readonly #sizeClasses = createSizeClasses();
  readonly #pooled = new WeakMap<ArrayBufferLike, SizeClass>();

  get freeBytes(): number {
    return this.#sizeClasses.reduce((sum, { bytes, free }) => sum + bytes * free.length, 0);
  }

  allocate(): Buffer {
    return this.#take(this.#sizeClasses[1]);
  }

  isPooled({ buffer }: Buffer): boolean {
    return this.#pooled.has(buffer);
  }

  /** The caller owns the copy until releasing it. */
  copyOf(bytes: Buffer, start: number, end: number): Buffer {
    const length = end - start;
    const sizeClass =
      length < POOLED_MIN_BYTES ? undefined : this.#sizeClasses.find((each) => length <= each.bytes);
    const piece = sizeClass === undefined ? Buffer.allocUnsafe(length) : this.#take(sizeClass);
    bytes.copy(piece, 0, start, end);
    return piece.length === length ? piece : piece.subarray(0, length);
  }

  /** Prepends held-back bytes to a chunk, in its headroom if they fit. Takes ownership of both buffers. */
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

  /** Accepts a whole chunk or part of a chunk; ignores memory that is not pooled. */
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

export const bufferPool = new BufferPool();
