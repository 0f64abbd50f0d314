import { isUtf8 } from 'node:buffer';
import { ByteReader, OutOfBytes } from '../base/bytes.ts';
import { ADDRESS_BYTES, type Address, addressFromBytes } from '../solana/address.ts';

/** Thrown on invalid data; `readBorsh` catches it and returns null. */
export class NotBorsh extends Error {
  override readonly name = 'NotBorsh';
}

export function readBorsh<T>(bytes: Uint8Array, read: (reader: ByteReader) => T | null): T | null {
  try {
    return read(new ByteReader(bytes));
  } catch (error) {
    if (error instanceof OutOfBytes || error instanceof NotBorsh) return null;
    throw error;
  }
}

export const readAddress = (reader: ByteReader): Address => addressFromBytes(reader.bytes(ADDRESS_BYTES));

export function readBool(reader: ByteReader): boolean {
  const byte = reader.u8();
  if (byte > 1) throw new NotBorsh('expected 0 or 1');
  return byte === 1;
}

export const readOption = <T>(reader: ByteReader, read: (reader: ByteReader) => T): T | null =>
  readBool(reader) ? read(reader) : null;

const utf8 = (bytes: Uint8Array, end = bytes.length): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, end).toString('utf8');

export function readString(reader: ByteReader): string {
  const bytes = reader.bytes(reader.u32());
  if (!isUtf8(bytes)) throw new NotBorsh('no text');
  return utf8(bytes);
}

/** Removes the trailing NUL characters that some programs use as padding. */
export function readText(reader: ByteReader): string {
  const bytes = reader.bytes(reader.u32());
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return utf8(bytes, end);
}

/** `read` must consume at least one byte per item, so that an impossible count fails before allocation. */
export function readList<T>(reader: ByteReader, read: (reader: ByteReader) => T): T[] {
  const count = reader.u32();
  if (count > reader.remaining) throw new OutOfBytes(`${count} items`, count);
  return Array.from({ length: count }, () => read(reader));
}

export function readVariant<const T>(reader: ByteReader, variants: readonly T[]): T {
  const variant = variants[reader.u8()];
  if (variant === undefined) throw new NotBorsh('unknown enum variant');
  return variant;
}
