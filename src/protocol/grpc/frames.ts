import { gunzipSync, zstdDecompressSync } from 'node:zlib';

export class InvalidGrpc extends Error {
  override readonly name = 'InvalidGrpc';
}

/** Value of the `grpc-accept-encoding` header. */
export const ACCEPTED_ENCODINGS = 'identity,gzip,zstd';

/** A compression flag and the length precede each message. */
export const FRAME_HEADER_BYTES = 5;
const EMPTY = Buffer.alloc(0);

/** Source: grpc, doc/PROTOCOL-HTTP2.md. */
export function encodeFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, FRAME_HEADER_BYTES);
  return frame;
}

export type MessageSizes = Readonly<{
  /** Applies to the compressed and to the decompressed size. */
  messageMaxBytes: number;
  /** Maximum decompression ratio of messages above `ratioExemptBytes`. */
  decompressionRatioMax: number;
  /** Decompressed size up to which the ratio is not limited. */
  ratioExemptBytes: number;
}>;

export function decompressedMaxBytes(compressedBytes: number, sizes: MessageSizes): number {
  const { messageMaxBytes, ratioExemptBytes, decompressionRatioMax } = sizes;
  return Math.min(messageMaxBytes, Math.max(ratioExemptBytes, compressedBytes * decompressionRatioMax));
}

/** Whether `decompress` failed because of the size limit. */
export const isTooLarge = ({ cause }: InvalidGrpc): boolean =>
  (cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_BUFFER_TOO_LARGE';

/** @throws InvalidGrpc, also if the result exceeds `decompressedMaxBytes` (see `isTooLarge`). */
export function decompress(message: Buffer, encoding: string, sizes: MessageSizes): Buffer {
  const options = { maxOutputLength: decompressedMaxBytes(message.length, sizes) };
  try {
    if (encoding === 'gzip') return gunzipSync(message, options);
    if (encoding === 'zstd') return zstdDecompressSync(message, options);
  } catch (cause) {
    throw new InvalidGrpc('failed to decompress a message', { cause });
  }
  throw new InvalidGrpc('unsupported message encoding');
}

/** Splits received bytes into messages. `next` decompresses them. */
export class GrpcFrames {
  /** Value of the `grpc-encoding` response header. */
  encoding = 'identity';
  readonly #sizes: MessageSizes;
  /** Received pieces; joined into one once a message header has arrived. */
  #pieces: Buffer[] = [];
  #length = 0;
  /** Size of the next frame; until it is known, the size of its header. */
  #frameBytes = FRAME_HEADER_BYTES;

  constructor(sizes: MessageSizes) {
    this.#sizes = sizes;
  }

  /** Whether the next message is complete and compressed, which makes `next` slow. @throws InvalidGrpc */
  get isCompressedReady(): boolean {
    return this.#hasFrame() && this.#pieces[0]?.[0] !== 0;
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** @returns the next message, read-only; null if it is incomplete. @throws InvalidGrpc */
  next(): Buffer | null {
    if (!this.#hasFrame()) return null;
    const bytes = this.#pieces[0] as Buffer;
    const message = bytes.subarray(FRAME_HEADER_BYTES, this.#frameBytes);
    this.#length -= this.#frameBytes;
    if (this.#length === 0) this.#pieces.length = 0;
    else this.#pieces[0] = bytes.subarray(this.#frameBytes);
    this.#frameBytes = FRAME_HEADER_BYTES;
    return bytes[0] === 0 ? message : this.#decompressed(message, bytes[0] as number);
  }

  /** Whether a complete frame has arrived. If so, the pieces have been joined into one. */
  #hasFrame(): boolean {
    if (this.#length < this.#frameBytes) return false;
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces, this.#length)];
    const length = (this.#pieces[0] as Buffer).readUInt32BE(1);
    if (length > this.#sizes.messageMaxBytes) throw new InvalidGrpc('message exceeds the size limit');
    this.#frameBytes = FRAME_HEADER_BYTES + length;
    return this.#length >= this.#frameBytes;
  }

  #decompressed(message: Buffer, flag: number): Buffer {
    if (flag !== 1) throw new InvalidGrpc('unknown message flags');
    if (message.length === 0) return EMPTY;
    try {
      return decompress(message, this.encoding, this.#sizes);
    } catch (thrown) {
      if (!(thrown instanceof InvalidGrpc) || !isTooLarge(thrown)) throw thrown;
      throw new InvalidGrpc('decompressed message exceeds the size limit', { cause: thrown });
    }
  }
}
