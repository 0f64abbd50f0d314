import { ByteReader, ByteWriter, OutOfBytes } from '../base/bytes.ts';
import { ADDRESS_BYTES, type Address, addressBytes, addressFromBytes } from './address.ts';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from './blockhash.ts';

/** `read` throws InvalidEncoding or OutOfBytes on invalid data. `write` does not validate. */
export type Codec<T> = Readonly<{
  read: (reader: ByteReader) => T;
  write: (writer: ByteWriter, value: T) => unknown;
}>;

export class InvalidEncoding extends Error {
  override readonly name: string = 'InvalidEncoding';
}

/** @returns null for invalid or truncated data, for which readers throw InvalidEncoding or OutOfBytes. */
export function decodedOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof OutOfBytes || error instanceof InvalidEncoding) return null;
    throw error;
  }
}

/** Like `decodedOrNull`, with a reader at the start of `bytes`. Bytes left unread are ignored. */
export const readOrNull = <T>(bytes: Uint8Array, read: (reader: ByteReader) => T | null): T | null =>
  decodedOrNull(() => read(new ByteReader(bytes)));

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws InvalidEncoding if the bytes are not UTF-8. */
export function utf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new InvalidEncoding('not UTF-8');
  }
}

/** `bool` reads any nonzero byte as true. */
const primitive = <Name extends 'u8' | 'u16' | 'u32' | 'u64' | 'i64' | 'f64' | 'bool'>(name: Name) =>
  ({
    read: (reader: ByteReader) => reader[name](),
    write: (writer: ByteWriter, value: never) => writer[name](value),
  }) as Codec<ReturnType<ByteReader[Name]>>;

export const u8: Codec<number> = primitive('u8');
export const u16: Codec<number> = primitive('u16');
export const u32: Codec<number> = primitive('u32');
export const u64: Codec<bigint> = primitive('u64');
export const i64: Codec<bigint> = primitive('i64');
export const f64: Codec<number> = primitive('f64');
export const bool: Codec<boolean> = primitive('bool');

/** The caller guarantees that the values belong to the branded type, such as Slot. */
export const branded = <T>(codec: Codec<bigint>): Codec<T> => codec as unknown as Codec<T>;

export const u128: Codec<bigint> = {
  read: (reader) => reader.u64() | (reader.u64() << 64n),
  write: (writer, value) => writer.u64(BigInt.asUintN(64, value)).u64(value >> 64n),
};

export const bytes = (length: number): Codec<Uint8Array> => ({
  read: (reader) => reader.bytes(length),
  write: (writer, value) => writer.bytes(value),
});

export const pubkey: Codec<Address> = {
  read: (reader) => addressFromBytes(reader.bytes(ADDRESS_BYTES)),
  write: (writer, value) => writer.bytes(addressBytes(value)),
};

export const hash: Codec<Blockhash> = {
  read: (reader) => blockhashFromBytes(reader.bytes(32)),
  write: (writer, value) => writer.bytes(blockhashBytes(value)),
};

export const struct = <T extends object>(
  fields: { readonly [Name in keyof T]-?: Codec<T[Name]> },
): Codec<Readonly<T>> => {
  const entries = Object.entries(fields) as [keyof T, Codec<T[keyof T]>][];
  return {
    read: (reader) => Object.fromEntries(entries.map(([name, { read }]) => [name, read(reader)])) as T,
    write: (writer, value) => {
      for (const [name, { write }] of entries) write(writer, value[name]);
    },
  };
};

/** The option tag must be 0 or 1. */
export function readOption<T>(reader: ByteReader, read: (reader: ByteReader) => T): T | null {
  const tag = reader.u8();
  if (tag > 1) throw new InvalidEncoding('invalid option tag');
  return tag === 1 ? read(reader) : null;
}

export const option = <T>({ read, write }: Codec<T>): Codec<T | null> => ({
  read: (reader) => readOption(reader, read),
  write: (writer, value) => {
    writer.bool(value !== null);
    if (value !== null) write(writer, value);
  },
});

export const array = <T>(length: number, { read, write }: Codec<T>): Codec<readonly T[]> => ({
  read: (reader) => Array.from({ length }, () => read(reader)),
  write: (writer, items) => {
    for (const item of items) write(writer, item);
  },
});

/**
 * A count that exceeds the remaining bytes throws OutOfBytes, because every item takes at least one byte; one above
 * `itemsMax` throws InvalidEncoding.
 * @param itemsMax - maximum number of items; writing drops the rest.
 */
export const list = <T>(
  { read, write }: Codec<T>,
  itemsMax = Number.POSITIVE_INFINITY,
): Codec<readonly T[]> => ({
  read: (reader) => {
    const count = Number(reader.u64());
    if (count > itemsMax) throw new InvalidEncoding('too many items');
    const items: T[] = [];
    while (items.length < count) items.push(read(reader));
    return items;
  },
  write: (writer, items) => {
    const written = items.slice(0, itemsMax);
    writer.u64(BigInt(written.length));
    for (const item of written) write(writer, item);
  },
});

/** Encoding pads the value to the account size. Decoding ignores trailing bytes. */
export const accountCodec = <T>(size: number, { read, write }: Codec<T>) => ({
  encode: (value: T): Uint8Array => {
    const writer = new ByteWriter(size);
    write(writer, value);
    return writer.zeros(Math.max(0, size - writer.length)).finish();
  },
  decode: (data: Uint8Array): T | null => readOrNull(data, read),
});
