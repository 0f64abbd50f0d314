import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** What came is no gRPC, is too large, or cannot be decompressed. */
export class InvalidGrpc extends Error {
  override readonly name = 'InvalidGrpc';
}

/** Encodings of messages that are taken. */
export const ACCEPTED_ENCODINGS = 'identity,gzip,zstd';

/** A flag and the length of the message, before each message. */
export const HEAD_BYTES = 5;
const NONE = Buffer.alloc(0);

/** One message as it stands in a stream: a flag, its length, itself. Source: grpc, doc/PROTOCOL-HTTP2.md. */
export function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}

/**
 * A message as it was before its sender compressed it.
 * @param encoding - from `grpc-encoding`.
 * @throws InvalidGrpc, of which the cause has the code ERR_BUFFER_TOO_LARGE when it is larger than `maxOutputLength`.
 */
export function decompress(message: Buffer, encoding: string, maxOutputLength: number): Buffer {
  try {
    if (encoding === 'gzip') return gunzipSync(message, { maxOutputLength });
    if (encoding === 'zstd') return zstdDecompressSync(message, { maxOutputLength });
  } catch (cause) {
    throw new InvalidGrpc('a message cannot be decompressed', { cause });
  }
  throw new InvalidGrpc('a message has an unknown encoding');
}

/** Cuts a stream into its messages, wherever its pieces begin and end. */
export class GrpcFrames {
  /** From the response header `grpc-encoding`. */
  encoding = 'identity';
  readonly #messageMaxBytes: number;
  /** What came of a message that is not whole yet; joined only when it is. */
  #pieces: Buffer[] = [];
  #length = 0;
  #wanted = HEAD_BYTES;

  constructor(messageMaxBytes: number) {
    this.#messageMaxBytes = messageMaxBytes;
  }

  /**
   * Takes the next piece.
   * @param take - called with each message that is whole now; a view, never modified afterwards.
   * @throws InvalidGrpc
   */
  push(piece: Buffer, take: (message: Buffer) => void): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length < this.#wanted) return;
    let rest = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces, this.#length);
    for (;;) {
      this.#wanted = this.#sizeOf(rest);
      if (rest.length < this.#wanted) break;
      take(this.#messageOf(rest.subarray(0, this.#wanted)));
      rest = rest.subarray(this.#wanted);
    }
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
  }

  /** Bytes until the end of the message that these begin with, as far as they tell. */
  #sizeOf(bytes: Buffer): number {
    if (bytes.length < HEAD_BYTES) return HEAD_BYTES;
    const length = bytes.readUInt32BE(1);
    if (length > this.#messageMaxBytes) throw new InvalidGrpc('a message is larger than is taken');
    return HEAD_BYTES + length;
  }

  #messageOf(frame: Buffer): Buffer {
    const message = frame.subarray(HEAD_BYTES);
    if (frame[0] === 0) return message;
    if (frame[0] !== 1) throw new InvalidGrpc('a message has unknown flags');
    if (message.length === 0) return NONE;
    return decompress(message, this.encoding, this.#messageMaxBytes);
  }
}
