import { ByteReader, ByteWriter, OutOfBytes } from '../../base/bytes.ts';

/** The bytes are not the message they should be. */
export class InvalidProtobuf extends Error {
  override readonly name = 'InvalidProtobuf';
}

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

const TWO_32 = 2 ** 32;
/** Seven bytes of a varint, 49 bits, fit a number; the other three are kept apart. */
const FIRST_BYTES = 7;
const VARINT_BYTES_MAX = 10;

const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the fields of one message, in whatever order they stand:
 *
 *     while (reader.next()) {
 *       if (reader.field === 1) slot = reader.uint64();
 *       else reader.skip();
 *     }
 *
 * Strict as the Rust servers' own reader (prost): a known field of another wire type is an error.
 * Source: protobuf.dev, "Encoding".
 * @throws InvalidProtobuf from every reading method.
 */
export class ProtobufReader {
  readonly #bytes: ByteReader;
  #field = 0;
  #wireType = VARINT;
  #first = 0;
  #rest = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = new ByteReader(bytes);
  }

  /** Number of the field that `next` found. */
  get field(): number {
    return this.#field;
  }

  /** Moves on to the next field; the one before must have been read or skipped. @returns false at the end. */
  next(): boolean {
    if (this.#bytes.remaining === 0) return false;
    this.#varint();
    if (this.#rest > 0 || this.#first >= TWO_32) throw new InvalidProtobuf('a field number is too large');
    this.#field = Math.floor(this.#first / 8);
    this.#wireType = this.#first % 8;
    if (this.#field === 0) throw new InvalidProtobuf('a field has the number 0');
    return true;
  }

  uint64(): bigint {
    this.#expect(VARINT);
    this.#varint();
    if (this.#rest === 0) return BigInt(this.#first);
    return BigInt.asUintN(64, BigInt(this.#first) + (BigInt(this.#rest) << 49n));
  }

  /** A u64 that counts or numbers things; more than 2^53 - 1 of them is an error. */
  count(): number {
    const value = this.uint64();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new InvalidProtobuf('a count is absurdly large');
    return Number(value);
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.uint64());
  }

  /** Also an enum. What lies above 32 bits is dropped, as everywhere. */
  uint32(): number {
    this.#expect(VARINT);
    this.#varint();
    return this.#first % TWO_32;
  }

  int32(): number {
    return this.uint32() | 0;
  }

  /** A u32 in which a u8 is kept, such as an index of a key. */
  u8(): number {
    const value = this.uint32();
    if (value > 0xff) throw new InvalidProtobuf(`${value} does not fit a byte`);
    return value;
  }

  bool(): boolean {
    this.#expect(VARINT);
    this.#varint();
    return this.#first !== 0 || this.#rest !== 0;
  }

  double(): number {
    this.#expect(FIXED_64);
    return this.#guarded(() => this.#bytes.f64());
  }

  /** A view into the input. */
  bytes(): Uint8Array {
    this.#expect(LENGTH_DELIMITED);
    this.#varint();
    if (this.#rest > 0) throw new InvalidProtobuf('a length is too large');
    return this.#take(this.#first);
  }

  /** Bytes of which there must be exactly so many. */
  fixedBytes(length: number): Uint8Array {
    const bytes = this.bytes();
    if (bytes.length !== length) throw new InvalidProtobuf(`${bytes.length} bytes where ${length} belong`);
    return bytes;
  }

  string(): string {
    const bytes = this.bytes();
    try {
      return text.decode(bytes);
    } catch (cause) {
      throw new InvalidProtobuf('a text is not UTF-8', { cause });
    }
  }

  /** A message inside this one. */
  message(): ProtobufReader {
    return new ProtobufReader(this.bytes());
  }

  /** Adds the values of a repeated u64 field, packed or not, to a list. */
  pushUint64s(list: bigint[]): void {
    if (this.#wireType === VARINT) {
      list.push(this.uint64());
      return;
    }
    const packed = this.message();
    packed.#wireType = VARINT;
    while (packed.#bytes.remaining > 0) list.push(packed.uint64());
  }

  /** Passes over a field that is of no interest. */
  skip(): void {
    switch (this.#wireType) {
      case VARINT:
        this.#varint();
        return;
      case FIXED_64:
        this.#take(8);
        return;
      case LENGTH_DELIMITED:
        this.bytes();
        return;
      case FIXED_32:
        this.#take(4);
        return;
      default:
        throw new InvalidProtobuf(`wire type ${this.#wireType} is not known`);
    }
  }

  #expect(wireType: number): void {
    if (this.#wireType === wireType) return;
    throw new InvalidProtobuf(`field ${this.#field} has wire type ${this.#wireType}, not ${wireType}`);
  }

  #take(length: number): Uint8Array {
    return this.#guarded(() => this.#bytes.bytes(length));
  }

  /** Leaves the value in `#first` (the low 49 bits) and `#rest`. */
  #varint(): void {
    let [first, rest, factor] = [0, 0, 1];
    for (let i = 0; i < VARINT_BYTES_MAX; i++) {
      if (this.#bytes.remaining === 0) throw new InvalidProtobuf('the message ends inside a number');
      const byte = this.#bytes.u8();
      if (i === FIRST_BYTES) factor = 1;
      if (i < FIRST_BYTES) first += (byte & 0x7f) * factor;
      else rest += (byte & 0x7f) * factor;
      factor *= 128;
      if (byte < 0x80) {
        this.#first = first;
        this.#rest = rest;
        return;
      }
    }
    throw new InvalidProtobuf('a number has more than ten bytes');
  }

  #guarded<T>(read: () => T): T {
    try {
      return read();
    } catch (cause) {
      if (cause instanceof OutOfBytes)
        throw new InvalidProtobuf('the message ends inside a field', { cause });
      throw cause;
    }
  }
}

/**
 * Writes the fields of one message, each as it is called for: what proto3 leaves out because it is the default is
 * left out by not calling.
 */
export class ProtobufWriter {
  readonly #bytes = new ByteWriter();

  /** @param value - 0 to 2^64 - 1. */
  uint64(field: number, value: bigint): this {
    this.#tag(field, VARINT);
    let left = value;
    while (left > 0x7fn) {
      this.#bytes.u8(Number(left & 0x7fn) | 0x80);
      left >>= 7n;
    }
    this.#bytes.u8(Number(left));
    return this;
  }

  /** @param value - 0 to 2^32 - 1; also an enum. */
  uint32(field: number, value: number): this {
    this.#tag(field, VARINT);
    this.#varint(value);
    return this;
  }

  bool(field: number, value: boolean): this {
    return this.uint32(field, value ? 1 : 0);
  }

  bytes(field: number, value: Uint8Array): this {
    this.#tag(field, LENGTH_DELIMITED);
    this.#varint(value.length);
    this.#bytes.bytes(value);
    return this;
  }

  string(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value));
  }

  message(field: number, value: ProtobufWriter): this {
    return this.bytes(field, value.finish());
  }

  /** What was written; the writer is done with. */
  finish(): Uint8Array {
    return this.#bytes.finish();
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  #varint(value: number): void {
    let left = value;
    while (left > 0x7f) {
      this.#bytes.u8((left % 0x80) | 0x80);
      left = Math.floor(left / 0x80);
    }
    this.#bytes.u8(left);
  }
}
