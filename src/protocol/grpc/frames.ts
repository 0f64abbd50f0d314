import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** Invalid gRPC framing, oversized message or invalid compression. */
export class InvalidGrpc extends Error {
  override readonly name = 'InvalidGrpc';
}

/** `grpc-accept-encoding`. */
export const ACCEPTED_ENCODINGS = 'identity,gzip,zstd';

/** Compression flag and length before each message. */
export const HEAD_BYTES = 5;
const EMPTY = Buffer.alloc(0);

/** Source: grpc, doc/PROTOCOL-HTTP2.md. */
export function encodeFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}

export type MessageSizes = Readonly<{
  /** Compressed and uncompressed. */
  messageMaxBytes: number;
  /** Maximum decompression ratio … */
  unpackedRatioMax: number;
  /** … above this size. */
  unpackedFreeBytes: number;
}>;

/** Limit for the decompressed size. */
export function unpackedMaxBytes(packedBytes: number, sizes: MessageSizes): number {
  const { messageMaxBytes, unpackedFreeBytes, unpackedRatioMax } = sizes;
  return Math.min(messageMaxBytes, Math.max(unpackedFreeBytes, packedBytes * unpackedRatioMax));
}

/** Whether `decompress` failed because of the size limit. */
export const isTooLarge = ({ cause }: InvalidGrpc): boolean =>
  (cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_BUFFER_TOO_LARGE';

/**
 * @param encoding - from `grpc-encoding`.
 * @throws InvalidGrpc, also if larger than `unpackedMaxBytes`: see `isTooLarge`.
 */
export function decompress(message: Buffer, encoding: string, sizes: MessageSizes): Buffer {
  const options = { maxOutputLength: unpackedMaxBytes(message.length, sizes) };
  try {
    if (encoding === 'gzip') return gunzipSync(message, options);
    if (encoding === 'zstd') return zstdDecompressSync(message, options);
  } catch (cause) {
    throw new InvalidGrpc('a message cannot be decompressed', { cause });
  }
  throw new InvalidGrpc('a message has an unknown encoding');
}

/** Splits a byte stream into messages. Messages are decompressed by `next`. */
export class GrpcFrames {
  /** From the response header `grpc-encoding`. */
  encoding = 'identity';
  readonly #sizes: MessageSizes;
  /** Pending bytes; joined once the first message is complete. */
  #pieces: Buffer[] = [];
  #length = 0;
  /** Size of the first frame as far as known. */
  #frameBytes = HEAD_BYTES;

  constructor(sizes: MessageSizes) {
    this.#sizes = sizes;
  }

  /** Whether the next message is complete and compressed, and so slow to read. @throws InvalidGrpc */
  get isHeavy(): boolean {
    return this.#hasFrame() && this.#pieces[0]?.[0] !== 0;
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /**
   * The next message, an immutable view; null if incomplete.
   * @throws InvalidGrpc
   */
  next(): Buffer | null {
    if (!this.#hasFrame()) return null;
    const bytes = this.#pieces[0] as Buffer;
    const message = bytes.subarray(HEAD_BYTES, this.#frameBytes);
    this.#length -= this.#frameBytes;
    if (this.#length === 0) this.#pieces.length = 0;
    else this.#pieces[0] = bytes.subarray(this.#frameBytes);
    this.#frameBytes = HEAD_BYTES;
    return bytes[0] === 0 ? message : this.#decompressed(message, bytes[0] as number);
  }

  /** If true, there is only one piece afterwards. */
  #hasFrame(): boolean {
    if (this.#length < this.#frameBytes) return false;
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces, this.#length)];
    const length = (this.#pieces[0] as Buffer).readUInt32BE(1);
    if (length > this.#sizes.messageMaxBytes) throw new InvalidGrpc('a message is larger than is taken');
    this.#frameBytes = HEAD_BYTES + length;
    return this.#length >= this.#frameBytes;
  }

  #decompressed(message: Buffer, flag: number): Buffer {
    if (flag !== 1) throw new InvalidGrpc('a message has unknown flags');
    if (message.length === 0) return EMPTY;
    try {
      return decompress(message, this.encoding, this.#sizes);
    } catch (thrown) {
      if (!(thrown instanceof InvalidGrpc) || !isTooLarge(thrown)) throw thrown;
      throw new InvalidGrpc('a message unpacks to more than is taken', { cause: thrown });
    }
  }
}
