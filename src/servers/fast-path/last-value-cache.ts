/** Longer texts are made each time: they would be held for as long as the connection is open. */
const CACHED_MAX_BYTES = 512;
const NONE = Buffer.alloc(0);

/**
 * The text that bytes are, with one character for each. Bytes that are those of the last time give the same text, which
 * is not made again; whoever works out something from it can see that by comparing.
 */
export class LastValueCache {
  #bytes: Buffer = NONE;
  #length = 0;
  #text = '';

  of(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length === this.#length && this.#isSame(bytes, start)) return this.#text;
    const text = bytes.toString('latin1', start, end);
    if (length <= CACHED_MAX_BYTES) this.#store(bytes, start, length, text);
    return text;
  }

  /** A loop, because a native comparison of so few bytes costs more. */
  #isSame(bytes: Buffer, start: number): boolean {
    const cached = this.#bytes;
    for (let i = 0; i < this.#length; i++) if (bytes[start + i] !== cached[i]) return false;
    return true;
  }

  #store(bytes: Buffer, start: number, length: number, text: string): void {
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(length);
    bytes.copy(this.#bytes, 0, start, start + length);
    this.#length = length;
    this.#text = text;
  }
}
