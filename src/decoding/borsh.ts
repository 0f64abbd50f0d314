import { isUtf8 } from 'node:buffer';
import { ByteReader, OutOfBytes } from '../base/bytes.ts';
import { ADDRESS_BYTES, type Address, addressFromBytes } from '../solana/address.ts';

/** Bytes that are long enough but are not what their format allows. */
class NotBorsh extends Error {
  override readonly name = 'NotBorsh';
}

/** What `read` makes of the bytes; null when they end too early or are not what they should be. */
export function readBorsh<T>(bytes: Uint8Array, read: (reader: ByteReader) => T | null): T | null {
  try {
    return read(new ByteReader(bytes));
  } catch (error) {
    if (error instanceof OutOfBytes || error instanceof NotBorsh) return null;
    throw error;
  }
}

/** An address: 32 bytes. */
export const readAddress = (reader: ByteReader): Address => addressFromBytes(reader.bytes(ADDRESS_BYTES));

/** A truth value, which is 0 or 1 and nothing else. */
export function readBool(reader: ByteReader): boolean {
  const byte = reader.u8();
  if (byte > 1) throw new NotBorsh('neither true nor false');
  return byte === 1;
}

/** A value behind a byte that says whether it is there. */
export const readOption = <T>(reader: ByteReader, read: (reader: ByteReader) => T): T | null =>
  readBool(reader) ? read(reader) : null;

const utf8 = (bytes: Uint8Array, end = bytes.length): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, end).toString('utf8');

/** Text behind its u32 length, which is UTF-8 and nothing else. */
export function readString(reader: ByteReader): string {
  const bytes = reader.bytes(reader.u32());
  if (!isUtf8(bytes)) throw new NotBorsh('no text');
  return utf8(bytes);
}

/** Text behind its u32 length. Some programs pad it with NUL characters, which are no part of it. */
export function readText(reader: ByteReader): string {
  const bytes = reader.bytes(reader.u32());
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return utf8(bytes, end);
}

/**
 * Items behind their u32 count. `read` takes at least one byte of each: a count beyond the bytes is refused before
 * anything is made.
 */
export function readList<T>(reader: ByteReader, read: (reader: ByteReader) => T): T[] {
  const count = reader.u32();
  if (count > reader.remaining) throw new OutOfBytes(`${count} items`, count);
  return Array.from({ length: count }, () => read(reader));
}

/** The variant of an enumeration whose variants hold nothing. */
export function readVariant<const T>(reader: ByteReader, variants: readonly T[]): T {
  const variant = variants[reader.u8()];
  if (variant === undefined) throw new NotBorsh('no such variant');
  return variant;
}
