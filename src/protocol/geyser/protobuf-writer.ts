const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;

const VARINT_MAX_BYTES = 10;
const FIRST_CAPACITY_BYTES = 256;
/** A character of JavaScript is at most so many bytes of UTF-8. */
const CHARACTER_MAX_BYTES = 3;

/** A u64 or i64, and its halves, without a bigint in between. */
const whole = new BigUint64Array(1);
const halves = new Uint32Array(whole.buffer);

/** The same memory as an ordinary array of bytes. */
const plain = (bytes: Buffer, length: number): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset, length);

/** Bytes of a length or a tag as it is written. */
function varintBytes(value: number): number {
  let bytes = 1;
  for (let left = value; left > 0x7f; left = Math.floor(left / 0x80)) bytes++;
  return bytes;
}

/** Bytes of a field of bytes: tag, length and themselves. */
export const fieldBytes = (field: number, length: number): number =>
  varintBytes(field * 8) + varintBytes(length) + length;

/**
 * Writes the fields of one message, each as it is called for: what proto3 leaves out because it is the default is
 * left out by not calling, or by calling what ends in `OrNone`.
 *
 * A message inside is written in its place, between `open` and `close`, so nothing is copied from writer to writer:
 *
 *     const start = writer.open(2);
 *     writer.uint64(1, slot);
 *     writer.close(start);
 */
export class ProtobufWriter {
  #bytes: Buffer;
  #length = 0;

  /** @param capacityBytes - what to reserve at once; knowledge of the size saves copies. */
  constructor(capacityBytes: number = FIRST_CAPACITY_BYTES) {
    this.#bytes = Buffer.allocUnsafe(Math.max(VARINT_MAX_BYTES, capacityBytes));
  }

  /** Bytes written so far: where the next field begins. */
  get length(): number {
    return this.#length;
  }

  /** @param value - 0 to 2^64 - 1. */
  uint64(field: number, value: bigint): this {
    this.#tag(field, VARINT);
    return this.#varint64(value);
  }

  /** @param value - -2^63 to 2^63 - 1. */
  int64(field: number, value: bigint): this {
    return this.uint64(field, value);
  }

  /** @param value - 0 to 2^32 - 1; also an enum, or a count up to 2^53 - 1 in a field of 64 bits. */
  uint32(field: number, value: number): this {
    this.#tag(field, VARINT);
    return this.#varint(value);
  }

  /** @param value - -2^31 to 2^31 - 1; a negative one has ten bytes. */
  int32(field: number, value: number): this {
    return value < 0 ? this.int64(field, BigInt(value)) : this.uint32(field, value);
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
    // For most texts the bytes are as many as the characters, and the length needs no second place.
    const start = this.open(field, value.length);
    this.#reserve(value.length * CHARACTER_MAX_BYTES);
    this.#length += this.#bytes.write(value, this.#length, 'utf8');
    this.close(start);
    return this;
  }

  message(field: number, value: ProtobufWriter): this {
    return this.bytes(field, value.finish());
  }

  /** A field that is left out when it has its default. */
  uint64OrNone(field: number, value: bigint): this {
    return value === 0n ? this : this.uint64(field, value);
  }

  uint32OrNone(field: number, value: number): this {
    return value === 0 ? this : this.uint32(field, value);
  }

  boolOrNone(field: number, value: boolean): this {
    return value ? this.bool(field, value) : this;
  }

  bytesOrNone(field: number, value: Uint8Array): this {
    return value.length === 0 ? this : this.bytes(field, value);
  }

  stringOrNone(field: number, value: string): this {
    return value === '' ? this : this.string(field, value);
  }

  /** A repeated u64 in its packed form; nothing for none. */
  packedUint64s(field: number, values: readonly bigint[]): this {
    if (values.length === 0) return this;
    const start = this.open(field, values.length * VARINT_MAX_BYTES);
    for (const value of values) this.#varint64(value);
    this.close(start);
    return this;
  }

  /** Bytes that are fields already. */
  raw(value: Uint8Array): this {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  /** A part of bytes that are fields already. */
  rawPart(value: Uint8Array, from: number, to: number): this {
    return this.raw(value.subarray(from, to));
  }

  /**
   * Begins a message inside this one.
   * @param expectedBytes - about how long it will be; a length with as many digits is not moved when it is closed.
   * @returns what `close` needs: where its fields begin.
   */
  open(field: number, expectedBytes = 0): number {
    this.#tag(field, LENGTH_DELIMITED);
    const reservedBytes = varintBytes(expectedBytes);
    this.#reserve(reservedBytes);
    this.#length += reservedBytes;
    // The room is written down in itself, until the length stands there.
    this.#bytes[this.#length - 1] = reservedBytes;
    return this.#length;
  }

  /** @param start - from `open`. @returns where the fields of the message begin now. */
  close(start: number): number {
    const reservedBytes = this.#bytes[start - 1] as number;
    const length = this.#length - start;
    const needed = varintBytes(length);
    if (needed > reservedBytes) this.#reserve(needed - reservedBytes);
    if (needed !== reservedBytes) this.#bytes.copyWithin(start - reservedBytes + needed, start, this.#length);
    this.#length = start - reservedBytes;
    // Without reserving: what is behind the length is not counted now, and a greater buffer would not have it.
    this.#putVarint(length);
    this.#length += length;
    return start - reservedBytes + needed;
  }

  /** Where the writer stands again, to be used once more. */
  clear(): void {
    this.#length = 0;
  }

  /** What was written: a view of the writer's own buffer; the writer is done with. */
  finish(): Uint8Array {
    return plain(this.#bytes, this.#length);
  }

  /** A copy of what was written, and not a byte more; the writer begins again. */
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
    whole[0] = value;
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
