import { decompress, HEAD_BYTES, InvalidGrpc } from '../../protocol/grpc/frames.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import type { Encoding } from './decode.ts';
import type { RequestBudget } from './request-budget.ts';

const LEAST_BYTES = 256;
const NONE = Buffer.alloc(0);

const tooLarge = (found: number | string, limit: number): GrpcError =>
  new GrpcError(
    'OUT_OF_RANGE',
    `Error, decoded message length too large: found ${found} bytes, the limit is: ${limit} bytes`,
  );

/**
 * Cuts what a client sends into messages. What is not whole yet is copied into memory that grows with what really came,
 * since each piece could keep alive all that came with it.
 */
export class RequestFrames {
  readonly #encoding: Encoding;
  readonly #messageMaxBytes: number;
  readonly #budget: RequestBudget;
  #held: Buffer = NONE;
  #length = 0;

  constructor(encoding: Encoding, messageMaxBytes: number, budget: RequestBudget) {
    this.#encoding = encoding;
    this.#messageMaxBytes = messageMaxBytes;
    this.#budget = budget;
  }

  /** Whether a message has begun that is not whole. */
  get partial(): boolean {
    return this.#length > 0;
  }

  /**
   * Takes what came.
   * @returns messages that are whole now, to be used before the next piece is taken.
   * @throws GrpcError OUT_OF_RANGE, INTERNAL; Failure OVERLOADED.
   */
  push(piece: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let rest = piece;
    while (rest.length > 0) {
      if (this.#length === 0) {
        const size = this.#sizeOf(rest, rest.length);
        if (rest.length < HEAD_BYTES || rest.length < size) {
          this.#hold(rest);
          break;
        }
        messages.push(this.#messageOf(rest.subarray(0, size)));
        rest = rest.subarray(size);
      } else rest = this.#continue(rest, messages);
    }
    return messages;
  }

  /** Lets go of what is held. */
  close(): void {
    this.#budget.give(this.#held.length);
    this.#held = NONE;
    this.#length = 0;
  }

  /** Adds to the message that has begun. @returns what comes behind it. */
  #continue(piece: Buffer, messages: Buffer[]): Buffer {
    const headLeft = HEAD_BYTES - this.#length;
    if (headLeft > 0) {
      const part = piece.subarray(0, headLeft);
      this.#hold(part);
      if (part.length < headLeft) return NONE;
    }
    const size = this.#sizeOf(this.#held, this.#length);
    const behind = headLeft > 0 ? piece.subarray(headLeft) : piece;
    const part = behind.subarray(0, size - this.#length);
    this.#hold(part);
    if (this.#length === size) {
      const message = this.#messageOf(this.#held.subarray(0, size));
      this.close();
      messages.push(message);
    }
    return behind.subarray(part.length);
  }

  #hold(part: Buffer): void {
    const length = this.#length + part.length;
    if (length > this.#held.length) {
      const grown = Math.max(LEAST_BYTES, length, Math.min(this.#held.length * 2, this.#messageMaxBytes));
      this.#budget.take(grown - this.#held.length);
      const held = Buffer.allocUnsafeSlow(grown);
      this.#held.copy(held, 0, 0, this.#length);
      this.#held = held;
    }
    part.copy(this.#held, this.#length);
    this.#length = length;
  }

  /** Bytes of the frame that these begin with, as far as they tell. */
  #sizeOf(bytes: Buffer, length: number): number {
    if (length < HEAD_BYTES) return HEAD_BYTES;
    const size = bytes.readUInt32BE(1);
    if (size > this.#messageMaxBytes) throw tooLarge(size, this.#messageMaxBytes);
    return HEAD_BYTES + size;
  }

  #messageOf(frame: Buffer): Buffer {
    const message = frame.subarray(HEAD_BYTES);
    if (frame[0] === 0) return message;
    if (frame[0] !== 1) {
      const text = `protocol error: received message with invalid compression flag: ${frame[0]} (valid flags are 0 and 1)`;
      throw new GrpcError('INTERNAL', text);
    }
    if (this.#encoding === 'identity') {
      const text = 'protocol error: received message with compressed-flag but no grpc-encoding was specified';
      throw new GrpcError('INTERNAL', text);
    }
    return message.length === 0 ? NONE : this.#decompress(message);
  }

  #decompress(message: Buffer): Buffer {
    try {
      return decompress(message, this.#encoding, this.#messageMaxBytes);
    } catch (thrown) {
      if (!(thrown instanceof InvalidGrpc)) throw thrown;
      const { code } = (thrown.cause ?? {}) as NodeJS.ErrnoException;
      if (code === 'ERR_BUFFER_TOO_LARGE')
        throw tooLarge(`more than ${this.#messageMaxBytes}`, this.#messageMaxBytes);
      throw new GrpcError('INTERNAL', 'Error decompressing a message');
    }
  }
}
