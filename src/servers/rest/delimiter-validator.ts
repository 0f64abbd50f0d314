const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;

/** What may stand behind a boundary: the end of the line, or the two dashes of the last one. */
const isValidSuffix = (first: number, second: number): boolean =>
  first === DASH ? second === DASH : first === CR && second === LF;

/**
 * Watches the lines that divide the parts of a body, in whatever pieces they come. The parser takes every line that only
 * begins like one for one, reads a lone dash behind it otherwise when a piece ends there, and takes padding for a head:
 * such lines are refused. Source: RFC 2046 §5.1.1, `delimiter` and `close-delimiter`; padding, which nobody sends, apart.
 */
export class DelimiterValidator {
  readonly #delimiter: Buffer;
  /** The end of what came, as long as a delimiter may begin in it. A body begins as if a line had ended before it. */
  #tail: Buffer = Buffer.from('\r\n');
  #isPastClose = false;

  /** @param boundary - in the encoding in which the parser looks for it. */
  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** @returns whether every delimiter that is known with these bytes is one. */
  accepts(piece: Buffer): boolean {
    const span = this.#delimiter.length + 2;
    const seam = Buffer.concat([this.#tail, piece.subarray(0, span - 1)]);
    const end = piece.length < span ? seam : piece;
    const isValid = this.#isValidIn(seam) && (end === seam || this.#isValidIn(piece));
    this.#tail = Buffer.from(end.subarray(-(span - 1)));
    return isValid;
  }

  /** A delimiter at the very end is seen with what follows. */
  #isValidIn(bytes: Buffer): boolean {
    const { length } = this.#delimiter;
    let at = bytes.indexOf(this.#delimiter);
    while (at >= 0 && !this.#isPastClose && at + length + 1 < bytes.length) {
      const first = bytes[at + length] ?? 0;
      if (!isValidSuffix(first, bytes[at + length + 1] ?? 0)) return false;
      this.#isPastClose = first === DASH;
      at = bytes.indexOf(this.#delimiter, at + length);
    }
    return true;
  }
}
