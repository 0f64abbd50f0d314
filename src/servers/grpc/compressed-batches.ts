import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { HEAD_BYTES } from '../../protocol/grpc/frames.ts';
import type { Encoding } from './decode.ts';
import { writeHead } from './frame-batches.ts';

/** Messages of which sizes are compressed. */
export type CompressionOptions = Readonly<{ compressionLeastBytes: number; compressionMaxBytes: number }>;

const gzipOptions = { level: 1 };
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Runs of compressed messages. Equal ones that leave one after the other are compressed once. */
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

  /** As that of FrameRuns; each message is compressed by itself, and only where that makes it smaller. */
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

/** Those of one server, one for each encoding: what many clients are sent alike is compressed once for all. */
export class Compressors {
  readonly #gzip: CompressedBatches;
  readonly #zstd: CompressedBatches;

  constructor(options: CompressionOptions) {
    this.#gzip = new CompressedBatches('gzip', options);
    this.#zstd = new CompressedBatches('zstd', options);
  }

  /** null: nothing is compressed. */
  of(encoding: Encoding): CompressedBatches | null {
    if (encoding === 'identity') return null;
    return encoding === 'gzip' ? this.#gzip : this.#zstd;
  }
}
