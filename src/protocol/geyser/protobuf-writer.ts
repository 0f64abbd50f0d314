const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;

const VARINT_MAX_BYTES = 10;
const FIRST_CAPACITY_BYTES = 256;
/** Maximum UTF-8 bytes per UTF-16 code unit. */
const CHARACTER_MAX_BYTES = 3;

/** Splits a 64-bit integer without bigint arithmetic. */
const wide = new BigUint64Array(1);
const halves = new Uint32Array(wide.buffer);

const plain = (bytes: Buffer, length: number): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset, length);

function varintBytes(value: number): number {
  let bytes = 1;
  for (let left = value; left > 0x7f; left = Math.floor(left / 0x80)) bytes++;
  return bytes;
}

export const fieldBytes = (field: number, length: number): number =>
  varintBytes(field * 8) + varintBytes(length) + length;

/** `nonzero…`, `nonempty…` and `trueBool` omit proto3 defaults. Nested messages are written in place. */
export class ProtobufWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(capacityBytes: number = FIRST_CAPACITY_BYTES) {
    this.#bytes = Buffer.allocUnsafe(Math.max(VARINT_MAX_BYTES, capacityBytes));
  }

  get length(): number {
    return this.#length;
  }

  uint64(field: number, value: bigint): this {
    this.#tag(field, VARINT);
    return this.#varint64(value);
  }

  /** Also used for enums and for 64-bit counts up to 2^53 - 1. */
  uint32(field: number, value: number): this {
    this.#tag(field, VARINT);
    return this.#varint(value);
  }

  /** A negative value takes ten bytes. */
  int32(field: number, value: number): this {
    return value < 0 ? this.uint64(field, BigInt(value)) : this.uint32(field, value);
  }

  bool(field: number, value: boolean): this {
    return this.uint32(field, value ? 1 : 0);
  }

  double(field: number, value: number): this {
    this.#tag(field, FIXED_64);
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.#tag(field, LENGTH_DELIMITED);
    this.#varint(value.length);
    return this.raw(value);
  }

  string(field: number, value: string): this {
    // Most strings are ASCII, so the reserved length prefix usually has the right size.
    const start = this.open(field, value.length);
    this.#reserve(value.length * CHARACTER_MAX_BYTES);
    this.#length += this.#bytes.write(value, this.#length, 'utf8');
    this.close(start);
    return this;
  }

  message(field: number, value: ProtobufWriter): this {
    return this.bytes(field, value.finish());
  }

  nonzeroUint64(field: number, value: bigint): this {
    return value === 0n ? this : this.uint64(field, value);
  }

  nonzeroUint32(field: number, value: number): this {
    return value === 0 ? this : this.uint32(field, value);
  }

  trueBool(field: number, value: boolean): this {
    return value ? this.bool(field, value) : this;
  }

  nonemptyBytes(field: number, value: Uint8Array): this {
    return value.length === 0 ? this : this.bytes(field, value);
  }

  nonemptyString(field: number, value: string): this {
    return value === '' ? this : this.string(field, value);
  }

  packedUint64s(field: number, values: readonly bigint[]): this {
    if (values.length === 0) return this;
    const start = this.open(field, values.length * VARINT_MAX_BYTES);
    for (const value of values) this.#varint64(value);
    this.close(start);
    return this;
  }

  /** Appends encoded fields. */
  raw(value: Uint8Array): this {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  rawPart(value: Uint8Array, from: number, to: number): this {
    return this.raw(value.subarray(from, to));
  }

  /** @param expectedBytes - a good estimate saves a copy in `close`. @returns the start of the fields, for `close`. */
  open(field: number, expectedBytes = 0): number {
    this.#tag(field, LENGTH_DELIMITED);
    const reservedBytes = varintBytes(expectedBytes);
    this.#reserve(reservedBytes);
    this.#length += reservedBytes;
    // Until `close` writes the length, the last byte of the prefix holds the size of the prefix.
    this.#bytes[this.#length - 1] = reservedBytes;
    return this.#length;
  }

  /** @returns the new start of the fields. */
  close(start: number): number {
    const reservedBytes = this.#bytes[start - 1] as number;
    const length = this.#length - start;
    const needed = varintBytes(length);
    if (needed > reservedBytes) this.#reserve(needed - reservedBytes);
    if (needed !== reservedBytes) this.#bytes.copyWithin(start - reservedBytes + needed, start, this.#length);
    this.#length = start - reservedBytes;
    // Must not grow the buffer: that would drop the message bytes, which `#length` does not count at this point.
    this.#putVarint(length);
    this.#length += length;
    return start - reservedBytes + needed;
  }

  clear(): void {
    this.#length = 0;
  }

  /** Returns a view. The writer must not be used afterwards. */
  finish(): Uint8Array {
    return plain(this.#bytes, this.#length);
  }

  /** Copies the bytes and clears the writer. */
  take(): Uint8Array {
    const taken = Buffer.allocUnsafe(this.#length);
    this.#bytes.copy(taken, 0, 0, this.#length);
    this.#length = 0;
    return plain(taken, taken.length);
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  #reserve(length: number): void {
    const requiredBytes = this.#length + length;
    if (requiredBytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(requiredBytes, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }

  #varint64(value: bigint): this {
    wide[0] = value;
    let low = halves[0] as number;
    let high = halves[1] as number;
    this.#reserve(VARINT_MAX_BYTES);
    while (high !== 0) {
      this.#bytes[this.#length++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    return this.#varint(low);
  }

  #varint(value: number): this {
    this.#reserve(VARINT_MAX_BYTES);
    return this.#putVarint(value);
  }

  #putVarint(value: number): this {
    let left = value;
    while (left > 0x7f) {
      this.#bytes[this.#length++] = (left % 0x80) | 0x80;
      left = Math.floor(left / 0x80);
    }
    this.#bytes[this.#length++] = left;
    return this;
  }
}
