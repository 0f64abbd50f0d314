import { type ByteReader, OutOfBytes } from '../base/bytes.ts';
import { InvalidEncoding, utf8 } from '../solana/codec.ts';

// Borsh values. Readers throw InvalidEncoding or OutOfBytes, which `readOrNull` turns into null.

export const readString = (reader: ByteReader): string => utf8(reader.bytes(reader.u32()));

/** Removes the trailing NUL characters that some programs use as padding. */
export function readText(reader: ByteReader): string {
  const bytes = reader.bytes(reader.u32());
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return Buffer.from(bytes.buffer, bytes.byteOffset, end).toString('utf8');
}

/** `read` must consume at least one byte per item, so that an impossible count fails before allocation. */
export function readList<T>(reader: ByteReader, read: (reader: ByteReader) => T): readonly T[] {
  const count = reader.u32();
  if (count > reader.remaining) throw new OutOfBytes(`${count} items`, count);
  return Array.from({ length: count }, () => read(reader));
}

export function readVariant<const T>(reader: ByteReader, variants: readonly T[]): T {
  const variant = variants[reader.u8()];
  if (variant === undefined) throw new InvalidEncoding('unknown enum variant');
  return variant;
}
