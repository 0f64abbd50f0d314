import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { HEAD_BYTES } from '../../protocol/grpc/frames.ts';
import type { Encoding } from './decode.ts';
import { writeHead } from './frame-runs.ts';

/** Messages of which sizes are compressed. */
export type CompressionOptions = Readonly<{ compressionLeastBytes: number; compressionMaxBytes: number }>;

const gzipOptions = { level: 1 };
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Runs of compressed messages. Equal ones that leave one after the other are compressed once. */
export class CompressedRuns {
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
    const run = parts.slice(from, to);
    if (isSame(run, this.#last)) return this.#joined;
    const frames: Buffer[] = [];
    for (let i = 0; i < run.length; i += 2) {
      frames.push(this.#frame(run[i] as Uint8Array, run[i + 1] as Uint8Array));
    }
    this.#last = run;
    this.#joined = Buffer.concat(frames);
    return this.#joined;
  }

  #frame(names: Uint8Array, tail: Uint8Array): Buffer {
    const message = Buffer.concat([names, tail]);
    const { compressionLeastBytes, compressionMaxBytes } = this.#options;
    const fits = message.length >= compressionLeastBytes && message.length <= compressionMaxBytes;
    const compressed = fits ? this.#compress(message) : message;
    const isSmaller = compressed.length < message.length;
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    const content = isSmaller ? compressed : message;
    writeHead(head, 0, isSmaller ? 1 : 0, content.length);
    return Buffer.concat([head, content]);
  }
}

const isSame = (run: readonly Uint8Array[], last: readonly Uint8Array[]): boolean =>
  run.length === last.length && run.every((part, i) => part === last[i]);

/** Those of one server, one for each encoding: what many clients are sent alike is compressed once for all. */
export class Compressors {
  readonly #gzip: CompressedRuns;
  readonly #zstd: CompressedRuns;

  constructor(options: CompressionOptions) {
    this.#gzip = new CompressedRuns('gzip', options);
    this.#zstd = new CompressedRuns('zstd', options);
  }

  /** null: nothing is compressed. */
  of(encoding: Encoding): CompressedRuns | null {
    if (encoding === 'identity') return null;
    return encoding === 'gzip' ? this.#gzip : this.#zstd;
  }
}
