import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { HEAD_BYTES } from '../../protocol/grpc/frames.ts';
import type { Encoding } from './decode.ts';
import { writeHead } from './frame-batches.ts';

/** Compressed messages are within these sizes. */
export type CompressionOptions = Readonly<{ compressionLeastBytes: number; compressionMaxBytes: number }>;

const gzipOptions = { level: 1 };
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Batches of compressed frames. Consecutive equal batches are compressed once. */
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

  /** As FrameBatches.join. Messages are compressed one by one, and only if that makes them smaller. */
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
    const { compressionLeastBytes, compressionMaxBytes } = this.#options;
    const isCompressible = message.length >= compressionLeastBytes && message.length <= compressionMaxBytes;
    const compressed = isCompressible ? this.#compress(message) : message;
    const isSmaller = compressed.length < message.length;
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    const content = isSmaller ? compressed : message;
    writeHead(head, 0, isSmaller ? 1 : 0, content.length);
    return Buffer.concat([head, content]);
  }
}

const isSame = (batch: readonly Uint8Array[], last: readonly Uint8Array[]): boolean =>
  batch.length === last.length && batch.every((part, i) => part === last[i]);

/** Compressors of one server: messages for many clients are compressed once. */
export class Compressors {
  readonly #gzip: CompressedBatches;
  readonly #zstd: CompressedBatches;

  constructor(options: CompressionOptions) {
    this.#gzip = new CompressedBatches('gzip', options);
    this.#zstd = new CompressedBatches('zstd', options);
  }

  of(encoding: Encoding): CompressedBatches | null {
    if (encoding === 'identity') return null;
    return encoding === 'gzip' ? this.#gzip : this.#zstd;
  }
}
