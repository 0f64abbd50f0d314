export class InvalidProtobuf extends Error {
  override readonly name = 'InvalidProtobuf';
}

export const NO_BYTES: Uint8Array = new Uint8Array();

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

const TWO_32 = 2 ** 32;
/** A number holds the low 49 bits of a varint exactly; the last three bytes are stored separately. */
const FIRST_BYTES = 7;
const VARINT_BYTES_MAX = 10;

const doubleBytes = new Uint8Array(8);
const doubles = new Float64Array(doubleBytes.buffer);

const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Called for each field. May throw to stop decoding. */
export interface FieldCount {
  field(): void;
}

/**
 * Reads one message in wire order: `while (reader.next())`, then read or skip the field. As strict as prost, which
 * Rust servers use: a known field with the wrong wire type is an error. Source: protobuf.dev, "Encoding".
 * @throws InvalidProtobuf from every method.
 */
export class ProtobufReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #count: FieldCount | null;
  #at: number;
  #fieldStart = 0;
  #field = 0;
  #wireType = VARINT;
  #first = 0;
  #rest = 0;

  /** @param count - called for every field, including those of nested messages. */
  constructor(
    bytes: Uint8Array,
    start: number = 0,
    end: number = bytes.length,
    count: FieldCount | null = null,
  ) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#count = count;
  }

  get field(): number {
    return this.#field;
  }

  /** Start of the current field, including its tag. */
  get fieldStart(): number {
    return this.#fieldStart;
  }

  /** End of the last value read or skipped. */
  get offset(): number {
    return this.#at;
  }

  get end(): number {
    return this.#end;
  }

  /** Moves to the next field. The current field must have been read or skipped. @returns false at the end. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    if (this.#count !== null) this.#count.field();
    this.#fieldStart = this.#at;
    this.#varint();
    if (this.#rest > 0 || this.#first >= TWO_32) throw new InvalidProtobuf('field number too large');
    this.#field = Math.floor(this.#first / 8);
    this.#wireType = this.#first % 8;
    if (this.#field === 0) throw new InvalidProtobuf('field number 0');
    return true;
  }

  uint64(): bigint {
    this.#expect(VARINT);
    this.#varint();
    if (this.#rest === 0) return BigInt(this.#first);
    return BigInt.asUintN(64, BigInt(this.#first) + (BigInt(this.#rest) << 49n));
  }

  /** Reads a u64 that must not exceed 2^53 - 1. */
  count(): number {
    const value = this.uint64();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new InvalidProtobuf('count exceeds 2^53 - 1');
    return Number(value);
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.uint64());
  }

  /** Also reads enums. Drops higher bits, like other implementations. */
  uint32(): number {
    this.#expect(VARINT);
    this.#varint();
    return this.#first % TWO_32;
  }

  int32(): number {
    return this.uint32() | 0;
  }

  /** Reads a u32 field whose value must be a u8, such as an account index. */
  u8(): number {
    const value = this.uint32();
    if (value > 0xff) throw new InvalidProtobuf(`${value} exceeds a byte`);
    return value;
  }

  bool(): boolean {
    this.#expect(VARINT);
    this.#varint();
    return this.#first !== 0 || this.#rest !== 0;
  }

  double(): number {
    this.#expect(FIXED_64);
    const start = this.#take(8);
    for (let i = 0; i < 8; i++) doubleBytes[i] = this.#bytes[start + i] as number;
    return doubles[0] as number;
  }

  /** Skips a length-delimited value. @returns the start of the value, which ends at `offset`. */
  span(): number {
    this.#expect(LENGTH_DELIMITED);
    this.#varint();
    if (this.#rest > 0) throw new InvalidProtobuf('length too large');
    return this.#take(this.#first);
  }

  fixedSpan(length: number): number {
    const start = this.span();
    const found = this.#at - start;
    if (found !== length) throw new InvalidProtobuf(`expected ${length} bytes, got ${found}`);
    return start;
  }

  /** Returns a view into the input. */
  bytes(): Uint8Array {
    const start = this.span();
    return this.#bytes.subarray(start, this.#at);
  }

  fixedBytes(length: number): Uint8Array {
    const start = this.fixedSpan(length);
    return this.#bytes.subarray(start, this.#at);
  }

  string(): string {
    const bytes = this.bytes();
    try {
      return text.decode(bytes);
    } catch (cause) {
      throw new InvalidProtobuf('invalid UTF-8', { cause });
    }
  }

  /** The offsets of the nested reader refer to the same input. */
  message(): ProtobufReader {
    const start = this.span();
    return new ProtobufReader(this.#bytes, start, this.#at, this.#count);
  }

  /** Accepts packed and unpacked values. */
  pushUint64s(list: bigint[]): void {
    if (this.#wireType === VARINT) {
      list.push(this.uint64());
      return;
    }
    const packed = this.message();
    packed.#wireType = VARINT;
    while (packed.#at < packed.#end) list.push(packed.uint64());
  }

  skipField(): void {
    if (this.#wireType === VARINT) this.#varint();
    else if (this.#wireType === LENGTH_DELIMITED) this.span();
    else if (this.#wireType === FIXED_64) this.#take(8);
    else if (this.#wireType === FIXED_32) this.#take(4);
    else throw new InvalidProtobuf(`unknown wire type ${this.#wireType}`);
  }

  #expect(wireType: number): void {
    if (this.#wireType === wireType) return;
    throw new InvalidProtobuf(`field ${this.#field}: expected wire type ${wireType}, got ${this.#wireType}`);
  }

  #take(length: number): number {
    const start = this.#at;
    if (length > this.#end - start) throw new InvalidProtobuf('message truncated inside a field');
    this.#at = start + length;
    return start;
  }

  /** Stores the value in `#first` (the low 49 bits) and `#rest`. */
  #varint(): void {
    let first = 0;
    let rest = 0;
    let factor = 1;
    for (let i = 0; i < VARINT_BYTES_MAX; i++) {
      if (this.#at >= this.#end) throw new InvalidProtobuf('message truncated inside a number');
      const byte = this.#bytes[this.#at++] as number;
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
    throw new InvalidProtobuf('varint longer than ten bytes');
  }
}
