import { isUtf8 } from 'node:buffer';

const NONE = Buffer.alloc(0);

/** How many bytes the character takes that this byte begins; 0 for a byte that begins none. */
function lengthFrom(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc0) return 0;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

/** Where a character begins, at `start` or later, that is cut off at the end of the bytes; their length when none is. */
function cutFrom(bytes: Buffer, start: number): number {
  for (let back = 1; back <= Math.min(3, bytes.length - start); back++) {
    const needed = lengthFrom(bytes[bytes.length - back] as number);
    if (needed > 0) return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Whether text that comes in pieces is UTF-8: a character may be cut in two. */
export class Utf8Pieces {
  /** The beginning of a character, at most three bytes. */
  #begun: Buffer = NONE;
  #isBroken = false;

  /** All of it is UTF-8, and no character is left unfinished. */
  get isWhole(): boolean {
    return !this.#isBroken && this.#begun.length === 0;
  }

  /** @returns whether it may be UTF-8 so far; once it is not, it never is again. */
  add(bytes: Buffer): boolean {
    this.#isBroken ||= !this.#mayFollow(bytes);
    return !this.#isBroken;
  }

  #mayFollow(bytes: Buffer): boolean {
    const needed = this.#begun.length === 0 ? 0 : lengthFrom(this.#begun[0] as number) - this.#begun.length;
    if (bytes.length < needed) {
      this.#begun = Buffer.concat([this.#begun, bytes]);
      return true;
    }
    if (needed > 0 && !isUtf8(Buffer.concat([this.#begun, bytes.subarray(0, needed)]))) return false;
    const end = cutFrom(bytes, needed);
    this.#begun = end === bytes.length ? NONE : Buffer.from(bytes.subarray(end));
    return isUtf8(bytes.subarray(needed, end));
  }
}
