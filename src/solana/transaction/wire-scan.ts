/**
 * Goes through bytes field by field and makes nothing of them. Past the end it is broken, and gives zeros.
 */
export class WireScan {
  readonly bytes: Uint8Array;
  at: number;
  isBroken = false;

  constructor(bytes: Uint8Array, at: number = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  get remaining(): number {
    return this.bytes.length - this.at;
  }

  /** Takes the next bytes. @returns where they begin. */
  take(length: number): number {
    const start = this.at;
    if (length > this.bytes.length - start) this.isBroken = true;
    else this.at = start + length;
    return start;
  }

  u8(): number {
    const at = this.take(1);
    return this.isBroken ? 0 : (this.bytes[at] as number);
  }

  u16(): number {
    return this.u8() | (this.u8() << 8);
  }

  u32(): number {
    return (this.u16() | (this.u16() << 16)) >>> 0;
  }

  /** A compact-u16 length in its one form; in any other the scan is broken. */
  compact(): number {
    let value = 0;
    for (let nth = 0; nth < 3; nth++) {
      const byte = this.u8();
      if (this.isBroken || (byte === 0 && nth > 0)) break;
      value |= (byte & 0x7f) << (nth * 7);
      if (byte < 0x80) {
        if (value > 0xffff) break;
        return value;
      }
    }
    this.isBroken = true;
    return 0;
  }
}
