import type { IncomingHttpHeaders } from 'node:http2';
import { Failure } from '../../protocol/errors.ts';
import {
  decompress,
  decompressedMaxBytes,
  FRAME_HEADER_BYTES,
  InvalidGrpc,
  isTooLarge,
  type MessageSizes,
} from '../../protocol/grpc/frames.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import { credentialIn, traceparentOf } from '../caller.ts';

export type Encoding = 'identity' | 'gzip' | 'zstd';

export type CallHead = Readonly<{
  path: string;
  /** API key as sent; null: none. Must not be logged. */
  credential: string | null;
  traceparent: string | null;
  encoding: Encoding;
  accepted: readonly Encoding[];
  timeoutMs: number | null;
}>;

const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const CONTENT_TYPE = /^application\/grpc(\+proto)?\s*(;|$)/i;

const msOfUnit: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

const isEncoding = (text: string): text is Encoding =>
  text === 'identity' || text === 'gzip' || text === 'zstd';

export const isGrpc = (contentType: string | undefined): boolean => CONTENT_TYPE.test(contentType ?? '');

/** Source: grpc, doc/PROTOCOL-HTTP2.md, "Requests". @throws GrpcError UNIMPLEMENTED, INTERNAL */
export function decodeHead(headers: IncomingHttpHeaders): CallHead {
  const encoding = single(headers['grpc-encoding']) ?? 'identity';
  if (!isEncoding(encoding))
    throw new GrpcError('UNIMPLEMENTED', `Content is compressed with \`${encoding}\` which isn't supported`);
  return {
    path: headers[':path'] ?? '',
    credential: credentialOf(headers),
    traceparent: traceparentOf(headers),
    encoding,
    accepted: acceptedOf(single(headers['grpc-accept-encoding']) ?? ''),
    timeoutMs: timeoutOf(single(headers['grpc-timeout'])),
  };
}

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;

/** Returns `x-token`, which Yellowstone clients send, else the `authorization: Bearer` token. */
function credentialOf(headers: IncomingHttpHeaders): string | null {
  const token = single(headers['x-token']);
  if (token !== undefined && token !== '') return token;
  return credentialIn(headers.authorization, '');
}

const acceptedOf = (text: string): readonly Encoding[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => isEncoding(name) && name !== 'identity');

function timeoutOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const parsed = TIMEOUT.exec(text);
  if (parsed === null) throw new GrpcError('INTERNAL', 'malformed grpc-timeout');
  return Number(parsed[1]) * (msOfUnit[parsed[2] as string] as number);
}

const INITIAL_BYTES = 256;
/** Larger messages and compressed messages are heavy, that is, slow to read. */
const LIGHT_BYTES = 16 * 1024;
const NONE = Buffer.alloc(0);

const tooLarge = (found: number | string, limit: number): GrpcError =>
  new GrpcError(
    'OUT_OF_RANGE',
    `Error, decoded message length too large: found ${found} bytes, the limit is: ${limit} bytes`,
  );

/**
 * Splits request bytes into messages and decompresses them one at a time, on demand. An incomplete message is copied
 * into its own buffer, because a chunk would keep its whole read buffer alive.
 */
export class RequestFrames {
  readonly #encoding: Encoding;
  readonly #sizes: MessageSizes;
  readonly #budget: RequestBudget;
  #buffer: Buffer = NONE;
  #length = 0;
  #unread: Buffer = NONE;
  #reservedBytes = 0;

  constructor(encoding: Encoding, sizes: MessageSizes, budget: RequestBudget) {
    this.#encoding = encoding;
    this.#sizes = sizes;
    this.#budget = budget;
  }

  get isPartial(): boolean {
    return this.#length > 0;
  }

  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  /** Whether the next message is slow to read. @throws GrpcError OUT_OF_RANGE */
  get isHeavy(): boolean {
    if (this.#unread.length === 0) return false;
    const isStarted = this.#length > 0;
    const [head, length] = isStarted ? [this.#buffer, this.#length] : [this.#unread, this.#unread.length];
    if (head[0] !== 0) return true;
    const size = this.#sizeOf(head, length);
    return size > LIGHT_BYTES && this.#length + this.#unread.length >= size;
  }

  push(piece: Buffer): void {
    this.#unread = this.#unread.length === 0 ? piece : Buffer.concat([this.#unread, piece]);
  }

  /** @returns a message, valid until the next call; null if incomplete. @throws GrpcError, Failure OVERLOADED */
  next(): { message: Buffer; packedBytes: number } | null {
    if (this.#length === 0 && this.#unread.length > 0) {
      const size = this.#sizeOf(this.#unread, this.#unread.length);
      if (this.#unread.length >= FRAME_HEADER_BYTES && this.#unread.length >= size) {
        const frame = this.#unread.subarray(0, size);
        this.#advance(size);
        return this.#messageOf(frame);
      }
    }
    return this.#continue();
  }

  /** Copies unread bytes, because they may keep a much larger buffer alive. */
  retain(): void {
    const { length } = this.#unread;
    if (length === this.#reservedBytes) return;
    this.#budget.reserve(length - this.#reservedBytes);
    this.#reservedBytes = length;
    this.#unread = Buffer.from(this.#unread);
  }

  close(): void {
    this.#clear();
    this.#unread = NONE;
    this.#budget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }

  #continue(): { message: Buffer; packedBytes: number } | null {
    if (this.#length < FRAME_HEADER_BYTES) this.#append(FRAME_HEADER_BYTES - this.#length);
    if (this.#length < FRAME_HEADER_BYTES) return null;
    const size = this.#sizeOf(this.#buffer, this.#length);
    this.#append(size - this.#length);
    if (this.#length < size) return null;
    const frame = this.#buffer.subarray(0, size);
    this.#clear();
    return this.#messageOf(frame);
  }

  #append(max: number): void {
    const chunk = this.#unread.subarray(0, max);
    if (chunk.length === 0) return;
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      const doubled = Math.min(this.#buffer.length * 2, this.#sizes.messageMaxBytes);
      const grown = Math.max(INITIAL_BYTES, length, doubled);
      this.#budget.reserve(grown - this.#buffer.length);
      const buffer = Buffer.allocUnsafeSlow(grown);
      this.#buffer.copy(buffer, 0, 0, this.#length);
      this.#buffer = buffer;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
    this.#advance(chunk.length);
  }

  #advance(bytes: number): void {
    this.#unread = this.#unread.length === bytes ? NONE : this.#unread.subarray(bytes);
    if (this.#unread.length > 0) return;
    this.#budget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }

  #clear(): void {
    this.#budget.release(this.#buffer.length);
    this.#buffer = NONE;
    this.#length = 0;
  }

  #sizeOf(bytes: Buffer, length: number): number {
    if (length < FRAME_HEADER_BYTES) return FRAME_HEADER_BYTES;
    const size = bytes.readUInt32BE(1);
    if (size > this.#sizes.messageMaxBytes) throw tooLarge(size, this.#sizes.messageMaxBytes);
    return FRAME_HEADER_BYTES + size;
  }

  #messageOf(frame: Buffer): { message: Buffer; packedBytes: number } {
    const message = frame.subarray(FRAME_HEADER_BYTES);
    const packedBytes = message.length;
    if (frame[0] === 0) return { message, packedBytes };
    if (frame[0] !== 1) {
      const text = `protocol error: received message with invalid compression flag: ${frame[0]} (valid flags are 0 and 1)`;
      throw new GrpcError('INTERNAL', text);
    }
    if (this.#encoding === 'identity') {
      const text = 'protocol error: received message with compressed-flag but no grpc-encoding was specified';
      throw new GrpcError('INTERNAL', text);
    }
    return { message: packedBytes === 0 ? NONE : this.#decompress(message), packedBytes };
  }

  #decompress(message: Buffer): Buffer {
    try {
      return decompress(message, this.#encoding, this.#sizes);
    } catch (thrown) {
      if (!(thrown instanceof InvalidGrpc)) throw thrown;
      if (!isTooLarge(thrown)) throw new GrpcError('INTERNAL', 'Error decompressing a message');
      const maxBytes = decompressedMaxBytes(message.length, this.#sizes);
      throw tooLarge(`more than ${maxBytes}`, maxBytes);
    }
  }
}

export class RequestBudget {
  readonly #maxBytes: number;
  readonly #parent: RequestBudget | null;
  #bytes = 0;

  constructor(maxBytes: number, parent: RequestBudget | null = null) {
    this.#maxBytes = maxBytes;
    this.#parent = parent;
  }

  createChild(maxBytes: number): RequestBudget {
    return new RequestBudget(maxBytes, this);
  }

  reserve(bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes) throw new Failure('OVERLOADED');
    this.#parent?.reserve(bytes);
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    this.#parent?.release(bytes);
  }
}
