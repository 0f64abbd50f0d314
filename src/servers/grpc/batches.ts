import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { FRAME_HEADER_BYTES } from '../../protocol/grpc/frames.ts';
import type { Encoding } from './decode.ts';

export const BATCH_MAX_BYTES = 64 * 1024;

const FREE_SLABS_MAX = 64;

/** Below this size, a copy loop is faster than `set`. */
const SHORT_BYTES = 24;

/** Memory for batches; `readers` is the number of pending writes that read from it. */
export class Slab {
  readonly bytes = Buffer.allocUnsafeSlow(BATCH_MAX_BYTES);
  readers = 0;
}

/**
 * Joins messages and their frame headers into one buffer. Streams often send the same messages in the same order,
 * so `join` returns the last batch again if its messages are the same. A slab is reused once its last write has finished.
 */
export class FrameBatches {
  readonly #freeSlabs: Slab[] = [];
  /** Slab of the last batch; the code that writes the batch increments `readers`. */
  slab = new Slab();
  #end = 0;
  readonly #last: Uint8Array[] = [];
  #joined: Buffer = this.slab.bytes.subarray(0, 0);

  /**
   * @param parts - two per message: encoded filter names and the rest. Parts `from` to `to` (exclusive) are joined.
   * @param bytes - total size of these messages and their headers, at most BATCH_MAX_BYTES.
   * @returns the batch. Valid until the next `join`, and after that for as long as its slab has readers. Read-only.
   */
  join(parts: readonly Uint8Array[], from: number, to: number, bytes: number): Buffer {
    if (this.#isLast(parts, from, to)) return this.#joined;
    if (this.#end + bytes > BATCH_MAX_BYTES) this.#renew();
    const start = this.#end;
    this.#last.length = 0;
    for (let i = from; i < to; i += 2) this.#add(parts[i] as Uint8Array, parts[i + 1] as Uint8Array);
    this.#joined = this.slab.bytes.subarray(start, this.#end);
    return this.#joined;
  }

  release(slab: Slab): void {
    slab.readers -= 1;
    if (slab.readers > 0) return;
    if (slab !== this.slab) {
      if (this.#freeSlabs.length < FREE_SLABS_MAX) this.#freeSlabs.push(slab);
      return;
    }
    this.#end = 0;
    this.#last.length = 0;
  }

  #renew(): void {
    if (this.slab.readers > 0) this.slab = this.#freeSlabs.pop() ?? new Slab();
    this.#end = 0;
  }

  #add(names: Uint8Array, tail: Uint8Array): void {
    const { bytes } = this.slab;
    this.#last.push(names, tail);
    writeHead(bytes, this.#end, 0, names.length + tail.length);
    let at = this.#end + FRAME_HEADER_BYTES;
    if (names.length < SHORT_BYTES) for (let i = 0; i < names.length; i++) bytes[at + i] = names[i] as number;
    else bytes.set(names, at);
    at += names.length;
    bytes.set(tail, at);
    this.#end = at + tail.length;
  }

  #isLast(parts: readonly Uint8Array[], from: number, to: number): boolean {
    const last = this.#last;
    if (to - from !== last.length) return false;
    for (let i = 0; i < last.length; i++) if (parts[from + i] !== last[i]) return false;
    return last.length > 0;
  }
}

export function writeHead(bytes: Buffer, at: number, flag: 0 | 1, length: number): void {
  bytes[at] = flag;
  bytes[at + 1] = length >>> 24;
  bytes[at + 2] = length >>> 16;
  bytes[at + 3] = length >>> 8;
  bytes[at + 4] = length;
}

export type CompressionOptions = Readonly<{ compressionMinBytes: number; compressionMaxBytes: number }>;

const gzipOptions = { level: 1 };
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Compresses equal consecutive batches only once. */
export class CompressedBatches {
  readonly #options: CompressionOptions;
  readonly #compress: (message: Buffer) => Buffer;
  #last: readonly Uint8Array[] = [];
  #joined: Buffer = Buffer.alloc(0);

  constructor(encoding: 'gzip' | 'zstd', options: CompressionOptions) {
    this.#options = options;
    this.#compress =
      encoding === 'gzip'
        ? (message) => gzipSync(message, gzipOptions)
        : (message) => zstdCompressSync(message, zstdOptions);
  }

  /** Like FrameBatches.join. Compresses each message separately, and keeps the result only if it is smaller. */
  join(parts: readonly Uint8Array[], from: number, to: number): Buffer {
    const batch = parts.slice(from, to);
    if (isSame(batch, this.#last)) return this.#joined;
    const frames: Buffer[] = [];
    for (let i = 0; i < batch.length; i += 2) {
      frames.push(this.#frame(batch[i] as Uint8Array, batch[i + 1] as Uint8Array));
    }
    this.#last = batch;
    this.#joined = Buffer.concat(frames);
    return this.#joined;
  }

  #frame(names: Uint8Array, tail: Uint8Array): Buffer {
    const message = Buffer.concat([names, tail]);
    const { compressionMinBytes, compressionMaxBytes } = this.#options;
    const isCompressible = message.length >= compressionMinBytes && message.length <= compressionMaxBytes;
    const compressed = isCompressible ? this.#compress(message) : message;
    const isSmaller = compressed.length < message.length;
    const head = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
    const content = isSmaller ? compressed : message;
    writeHead(head, 0, isSmaller ? 1 : 0, content.length);
    return Buffer.concat([head, content]);
  }
}

const isSame = (batch: readonly Uint8Array[], last: readonly Uint8Array[]): boolean =>
  batch.length === last.length && batch.every((part, i) => part === last[i]);

export type Compressors = Readonly<Record<Encoding, CompressedBatches | null>>;

export const createCompressors = (options: CompressionOptions): Compressors => ({
  identity: null,
  gzip: new CompressedBatches('gzip', options),
  zstd: new CompressedBatches('zstd', options),
});
