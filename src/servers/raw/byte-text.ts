const ZERO = 0x30;
/** Beyond so many bytes a native copy is the cheaper one. */
const LOOP_MAX_BYTES = 24;

/**
 * Text that grows in bytes which are used again and again, so that nothing is made for it. Whoever writes knows that
 * there is room.
 */
export class ByteText {
  readonly bytes: Buffer;
  /** Bytes that were written. */
  length = 0;

  constructor(bytesMax: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytesMax);
  }

  /** Adds characters of one byte. */
  text(part: string): void {
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < part.length; i++) bytes[at++] = part.charCodeAt(i);
    this.length = at;
  }

  /** Adds a number as JavaScript writes it. */
  number(value: number): void {
    const whole = value | 0;
    if (whole !== value || whole < 0) {
      this.text(String(value));
      return;
    }
    let digits = 1;
    for (let bound = 10; bound <= whole; bound *= 10) digits++;
    const end = this.length + digits;
    let rest = whole;
    for (let at = end - 1; at >= this.length; at--) {
      const quotient = (rest / 10) | 0;
      this.bytes[at] = ZERO + rest - quotient * 10;
      rest = quotient;
    }
    this.length = end;
  }

  /** Adds bytes. */
  copy(piece: Buffer): void {
    const { bytes } = this;
    const at = this.length;
    if (piece.length > LOOP_MAX_BYTES) bytes.set(piece, at);
    else for (let i = 0; i < piece.length; i++) bytes[at + i] = piece[i] as number;
    this.length = at + piece.length;
  }
}
