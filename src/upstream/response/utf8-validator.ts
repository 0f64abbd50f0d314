import { isUtf8 } from 'node:buffer';

const EMPTY = Buffer.alloc(0);

/** How many bytes the character takes that this byte begins; 0 for a byte that begins none. */
function sequenceLength(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc0) return 0;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

/** Where a character begins, at `start` or later, that is cut off at the end of the bytes; their length when none is. */
function incompleteTail(bytes: Buffer, start: number): number {
  for (let back = 1; back <= Math.min(3, bytes.length - start); back++) {
    const needed = sequenceLength(bytes[bytes.length - back] as number);
    if (needed > 0) return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Whether text that comes in pieces is UTF-8: a character may be cut in two. */
export class Utf8Validator {
  /** The beginning of a character, at most three bytes. */
  #partial: Buffer = EMPTY;
  #isInvalid = false;

  /** All of it is UTF-8, and no character is left unfinished. */
  get isComplete(): boolean {
    return !this.#isInvalid && this.#partial.length === 0;
  }

  /** @returns whether it may be UTF-8 so far; once it is not, it never is again. */
  add(bytes: Buffer): boolean {
    this.#isInvalid ||= !this.#isValidContinuation(bytes);
    return !this.#isInvalid;
  }

  #isValidContinuation(bytes: Buffer): boolean {
    const needed =
      this.#partial.length === 0 ? 0 : sequenceLength(this.#partial[0] as number) - this.#partial.length;
    if (bytes.length < needed) {
      this.#partial = Buffer.concat([this.#partial, bytes]);
      return true;
    }
    if (needed > 0 && !isUtf8(Buffer.concat([this.#partial, bytes.subarray(0, needed)]))) return false;
    const end = incompleteTail(bytes, needed);
    this.#partial = end === bytes.length ? EMPTY : Buffer.from(bytes.subarray(end));
    return isUtf8(bytes.subarray(needed, end));
  }
}
