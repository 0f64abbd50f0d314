const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;

/** A boundary is followed by the end of the line, or by two dashes after the last part. */
const isValidSuffix = (first: number, second: number): boolean =>
  first === DASH ? second === DASH : first === CR && second === LF;

/**
 * Checks the delimiter lines of a multipart body. Busboy accepts any line that starts like a delimiter, depends on piece
 * boundaries for a single dash behind it, and treats padding as a header; such lines are rejected.
 * Source: RFC 2046 §5.1.1, `delimiter` and `close-delimiter`, without padding.
 */
export class DelimiterValidator {
  readonly #delimiter: Buffer;
  /** Last bytes that may start a delimiter. A body starts as if after a line end. */
  #tail: Buffer = Buffer.from('\r\n');
  #isPastClose = false;

  /** @param boundary - in the encoding that busboy uses. */
  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  accepts(piece: Buffer): boolean {
    const span = this.#delimiter.length + 2;
    const seam = Buffer.concat([this.#tail, piece.subarray(0, span - 1)]);
    const end = piece.length < span ? seam : piece;
    const isValid = this.#isValidIn(seam) && (end === seam || this.#isValidIn(piece));
    this.#tail = Buffer.from(end.subarray(-(span - 1)));
    return isValid;
  }

  /** A delimiter at the very end is checked with the next piece. */
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
