import { digitCount, writeDigits } from '../../base/text/digits.ts';
import { copyTo } from '../../base/text/short-bytes.ts';

/** Larger numbers are written in two parts, of which the low one has so many digits. */
const LOW_DIGITS = 9;
const LOW_BOUND = 10 ** LOW_DIGITS;

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
    if (whole === value && whole >= 0) {
      this.length = writeDigits(this.bytes, this.length, whole, digitCount(whole));
    } else if (value > 0 && Number.isSafeInteger(value)) {
      const high = Math.floor(value / LOW_BOUND);
      this.number(high);
      this.length = writeDigits(this.bytes, this.length, value - high * LOW_BOUND, LOW_DIGITS);
    } else {
      this.text(String(value));
    }
  }

  /** Adds bytes. */
  copy(piece: Buffer): void {
    this.length = copyTo(this.bytes, this.length, piece);
  }
}
