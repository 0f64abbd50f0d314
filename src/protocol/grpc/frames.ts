import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** What came is no gRPC, is too large, or cannot be decompressed. */
export class InvalidGrpc extends Error {
  override readonly name = 'InvalidGrpc';
}

/** Encodings of messages that are taken. */
export const ACCEPTED_ENCODINGS = 'identity,gzip,zstd';

/** A flag and the length of the message, before each message. */
export const HEAD_BYTES = 5;
const EMPTY = Buffer.alloc(0);

/** One message as it stands in a stream: a flag, its length, itself. Source: grpc, doc/PROTOCOL-HTTP2.md. */
export function encodeFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}

/** How large a message may be. */
export type MessageSizes = Readonly<{
  /** Bytes of a message, compressed and not. */
  messageMaxBytes: number;
  /** So many times its size a compressed message may have unpacked … */
  unpackedRatioMax: number;
  /** … and so many bytes in any case. */
  unpackedFreeBytes: number;
}>;

/** Bytes that a compressed message may have unpacked. */
export function unpackedMaxBytes(packedBytes: number, sizes: MessageSizes): number {
  const { messageMaxBytes, unpackedFreeBytes, unpackedRatioMax } = sizes;
  return Math.min(messageMaxBytes, Math.max(unpackedFreeBytes, packedBytes * unpackedRatioMax));
}

/** Whether what `decompress` threw says that the message has more bytes than it may. */
export const isTooLarge = ({ cause }: InvalidGrpc): boolean =>
  (cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_BUFFER_TOO_LARGE';

/**
 * A message as it was before its sender compressed it.
 * @param encoding - from `grpc-encoding`.
 * @throws InvalidGrpc, also when it is larger than `unpackedMaxBytes`: see `isTooLarge`.
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

/** Cuts a stream into its messages, wherever its pieces begin and end; none is unpacked before it is asked for. */
export class GrpcFrames {
  /** From the response header `grpc-encoding`. */
  encoding = 'identity';
  readonly #sizes: MessageSizes;
  /** What came and was not handed on; joined only when the message it begins with is whole. */
  #pieces: Buffer[] = [];
  #length = 0;
  /** Bytes until the end of that message, as far as they were looked at. */
  #frameBytes = HEAD_BYTES;

  constructor(sizes: MessageSizes) {
    this.#sizes = sizes;
  }

  /** Whether the next message is whole, and takes long to read: it is compressed. @throws InvalidGrpc */
  get isHeavy(): boolean {
    return this.#hasFrame() && this.#pieces[0]?.[0] !== 0;
  }

  /** Takes the next piece; `next` tells what is in it. */
  push(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /**
   * The next message, a view that is never modified afterwards; null when more must come first.
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

  /** Afterwards there is one piece only, if so. */
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
