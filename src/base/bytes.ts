/** Thrown for a read past the end of the bytes, or past a bound set by the caller. */
export class OutOfBytes extends Error {
  override readonly name = 'OutOfBytes';
  readonly requested: number;

  constructor(message: string, requested: number) {
    super(message);
    this.requested = requested;
  }
}

/** Reads little-endian fields. `bytes` returns views, not copies. @throws OutOfBytes from every reading method */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get offset(): number {
    return this.#offset;
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset;
  }

  #take(length: number): number {
    const start = this.#offset;
    if (length < 0 || length > this.#bytes.length - start) {
      throw new OutOfBytes(`${length} bytes wanted at ${start} of ${this.#bytes.length}`, length);
    }
    this.#offset = start + length;
    return start;
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true);
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#take(8), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  /** True for any byte but 0. Callers that allow only 0 and 1 must check `u8` themselves. */
  bool(): boolean {
    return this.u8() !== 0;
  }

  bytes(length: number): Uint8Array {
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** Skips bytes, with the same bounds check as a read. */
  skipBytes(length: number): void {
    this.#take(length);
  }
}

const FIRST_CAPACITY = 128;

export class ByteWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  /** @param capacityBytes - initial capacity; the exact size avoids reallocation. */
  constructor(capacityBytes: number = FIRST_CAPACITY) {
    this.#bytes = new Uint8Array(Math.max(1, capacityBytes));
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#length;
  }

  #reserve(length: number): number {
    const start = this.#length;
    this.#length = start + length;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return start;
  }

  u8(value: number): this {
    const at = this.#reserve(1);
    this.#view.setUint8(at, value);
    return this;
  }

  u16(value: number): this {
    const at = this.#reserve(2);
    this.#view.setUint16(at, value, true);
    return this;
  }

  u32(value: number): this {
    const at = this.#reserve(4);
    this.#view.setUint32(at, value, true);
    return this;
  }

  u64(value: bigint): this {
    const at = this.#reserve(8);
    this.#view.setBigUint64(at, value, true);
    return this;
  }

  i64(value: bigint): this {
    const at = this.#reserve(8);
    this.#view.setBigInt64(at, value, true);
    return this;
  }

  f64(value: number): this {
    const at = this.#reserve(8);
    this.#view.setFloat64(at, value, true);
    return this;
  }

  bool(value: boolean): this {
    return this.u8(value ? 1 : 0);
  }

  bytes(value: Uint8Array): this {
    const at = this.#reserve(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  zeros(length: number): this {
    // The reserved bytes are already zero: new buffers are zeroed, and nothing is written beyond `#length`.
    this.#reserve(length);
    return this;
  }

  /** Returns a view of the internal buffer. The writer must not be used afterwards. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}
