import {
  decompress,
  HEAD_BYTES,
  InvalidGrpc,
  isTooLarge,
  type MessageSizes,
  unpackedMaxBytes,
} from '../../protocol/grpc/frames.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import type { Encoding } from './decode.ts';
import type { RequestBudget } from './request-budget.ts';

const LEAST_BYTES = 256;
/** A message up to this size is read at once, if it is not compressed. */
const LIGHT_BYTES = 16 * 1024;
const NONE = Buffer.alloc(0);

const tooLarge = (found: number | string, limit: number): GrpcError =>
  new GrpcError(
    'OUT_OF_RANGE',
    `Error, decoded message length too large: found ${found} bytes, the limit is: ${limit} bytes`,
  );

/**
 * Cuts what a client sends into messages, one at a time: none is unpacked before it is asked for. What is not whole yet
 * is copied into memory that grows with what really came, since each piece could keep alive all that came with it.
 */
export class RequestFrames {
  readonly #encoding: Encoding;
  readonly #sizes: MessageSizes;
  readonly #budget: RequestBudget;
  /** The message that has begun, and how much of it is there. */
  #held: Buffer = NONE;
  #length = 0;
  /** What came and was not looked at yet. */
  #rest: Buffer = NONE;
  #keptBytes = 0;

  constructor(encoding: Encoding, sizes: MessageSizes, budget: RequestBudget) {
    this.#encoding = encoding;
    this.#sizes = sizes;
    this.#budget = budget;
  }

  /** Whether a message has begun that is not whole. */
  get partial(): boolean {
    return this.#length > 0;
  }

  /** Whether something came that was not looked at yet. */
  get waiting(): boolean {
    return this.#rest.length > 0;
  }

  /** Whether what comes next may take long to read: it is compressed, or large. @throws GrpcError OUT_OF_RANGE */
  get isHeavy(): boolean {
    if (this.#rest.length === 0) return false;
    const isBegun = this.#length > 0;
    const [head, length] = isBegun ? [this.#held, this.#length] : [this.#rest, this.#rest.length];
    if (head[0] !== 0) return true;
    const size = this.#sizeOf(head, length);
    return size > LIGHT_BYTES && this.#length + this.#rest.length >= size;
  }

  /** Takes what came; `next` tells what is in it. */
  push(piece: Buffer): void {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
  }

  /**
   * The next message that is whole, to be used before anything else is asked of this; null when more must come first.
   * @throws GrpcError OUT_OF_RANGE, INTERNAL; Failure OVERLOADED.
   */
  next(): { message: Buffer; packedBytes: number } | null {
    if (this.#length === 0 && this.#rest.length > 0) {
      const size = this.#sizeOf(this.#rest, this.#rest.length);
      if (this.#rest.length >= HEAD_BYTES && this.#rest.length >= size) {
        const frame = this.#rest.subarray(0, size);
        this.#advance(size);
        return this.#messageOf(frame);
      }
    }
    return this.#continue();
  }

  /** Copies what was not looked at, which may be one byte of all that came with it. @throws Failure OVERLOADED. */
  keep(): void {
    const { length } = this.#rest;
    if (length === this.#keptBytes) return;
    this.#budget.take(length - this.#keptBytes);
    this.#keptBytes = length;
    this.#rest = Buffer.from(this.#rest);
  }

  /** Lets go of what is held. */
  close(): void {
    this.#letGo();
    this.#rest = NONE;
    this.#budget.give(this.#keptBytes);
    this.#keptBytes = 0;
  }

  /** Adds to the message that has begun, or begins it. */
  #continue(): { message: Buffer; packedBytes: number } | null {
    if (this.#length < HEAD_BYTES) this.#hold(HEAD_BYTES - this.#length);
    if (this.#length < HEAD_BYTES) return null;
    const size = this.#sizeOf(this.#held, this.#length);
    this.#hold(size - this.#length);
    if (this.#length < size) return null;
    const frame = this.#held.subarray(0, size);
    this.#letGo();
    return this.#messageOf(frame);
  }

  /** Moves up to so many bytes to what is held. */
  #hold(most: number): void {
    const part = this.#rest.subarray(0, most);
    if (part.length === 0) return;
    const length = this.#length + part.length;
    if (length > this.#held.length) {
      const doubled = Math.min(this.#held.length * 2, this.#sizes.messageMaxBytes);
      const grown = Math.max(LEAST_BYTES, length, doubled);
      this.#budget.take(grown - this.#held.length);
      const held = Buffer.allocUnsafeSlow(grown);
      this.#held.copy(held, 0, 0, this.#length);
      this.#held = held;
    }
    part.copy(this.#held, this.#length);
    this.#length = length;
    this.#advance(part.length);
  }

  #advance(bytes: number): void {
    this.#rest = this.#rest.length === bytes ? NONE : this.#rest.subarray(bytes);
    if (this.#rest.length > 0) return;
    this.#budget.give(this.#keptBytes);
    this.#keptBytes = 0;
  }

  #letGo(): void {
    this.#budget.give(this.#held.length);
    this.#held = NONE;
    this.#length = 0;
  }

  /** Bytes of the frame that these begin with, as far as they tell. */
  #sizeOf(bytes: Buffer, length: number): number {
    if (length < HEAD_BYTES) return HEAD_BYTES;
    const size = bytes.readUInt32BE(1);
    if (size > this.#sizes.messageMaxBytes) throw tooLarge(size, this.#sizes.messageMaxBytes);
    return HEAD_BYTES + size;
  }

  #messageOf(frame: Buffer): { message: Buffer; packedBytes: number } {
    const message = frame.subarray(HEAD_BYTES);
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
      const maxBytes = unpackedMaxBytes(message.length, this.#sizes);
      throw tooLarge(`more than ${maxBytes}`, maxBytes);
    }
  }
}
