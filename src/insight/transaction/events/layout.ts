import { isUtf8 } from 'node:buffer';
import { type ByteReader, OutOfBytes, readOrNull } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import { ADDRESS_BYTES, addressFromBytes } from '../../../ledger/address.ts';

/** One value in borsh. A list is a u32 and its items; an array has its length in the program. */
export type FieldType =
  | ('u8' | 'u16' | 'u32' | 'i32' | 'u64' | 'i64' | 'u128' | 'i128' | 'bool' | 'pubkey' | 'string')
  | Readonly<{ list: Fields }>
  | Readonly<{ array: FieldType; length: number }>
  | Readonly<{ struct: Fields }>;

/** Members of a struct in the order of the program, named as the program names them. */
export type Fields = readonly (readonly [name: string, type: FieldType])[];

/**
 * The members of an event. Programs grow: what they came to tell later may be missing, but only from the end, and never
 * in the middle of a member.
 */
export type EventLayout = Readonly<{ name: string; fields: Fields; later: Fields }>;

/** Why bytes are not as the layout has them. */
class Malformed extends Error {
  override readonly name = 'Malformed';
}

function readBool(reader: ByteReader): boolean {
  const byte = reader.u8();
  if (byte > 1) throw new Malformed();
  return byte === 1;
}

function readString(reader: ByteReader): string {
  const bytes = reader.bytes(reader.u32());
  if (!isUtf8(bytes)) throw new Malformed();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

function readU128(reader: ByteReader): bigint {
  const low = reader.u64();
  return (reader.u64() << 64n) | low;
}

const plainReaders: Readonly<Record<Extract<FieldType, string>, (reader: ByteReader) => WritableJson>> = {
  u8: (reader) => reader.u8(),
  u16: (reader) => reader.u16(),
  u32: (reader) => reader.u32(),
  i32: (reader) => reader.u32() | 0,
  u64: (reader) => reader.u64(),
  i64: (reader) => reader.i64(),
  u128: readU128,
  i128: (reader) => BigInt.asIntN(128, readU128(reader)),
  bool: readBool,
  pubkey: (reader) => addressFromBytes(reader.bytes(ADDRESS_BYTES)),
  string: readString,
};

function readMembers(reader: ByteReader, fields: Fields): Record<string, WritableJson> {
  return Object.fromEntries(fields.map(([name, type]) => [name, readValue(reader, type)]));
}

/** Items have at least a byte each, so that a length beyond the bytes is refused before anything is made. */
function readList(reader: ByteReader, fields: Fields): WritableJson[] {
  const length = reader.u32();
  if (length > reader.remaining) throw new OutOfBytes(`${length} items`, length);
  return Array.from({ length }, () => readMembers(reader, fields));
}

function readValue(reader: ByteReader, type: FieldType): WritableJson {
  if (typeof type === 'string') return plainReaders[type](reader);
  if ('list' in type) return readList(reader, type.list);
  if ('struct' in type) return readMembers(reader, type.struct);
  return Array.from({ length: type.length }, () => readValue(reader, type.array));
}

/**
 * Members of an event, in the order of its layout. u64 and larger are bigint. Bytes behind the last known member are
 * what the program tells since: they are passed over.
 * @param bytes - without the discriminator.
 * @returns null for bytes that are not as the layout has them.
 */
export function readLayout(bytes: Uint8Array, layout: EventLayout): Record<string, WritableJson> | null {
  try {
    return readOrNull(bytes, (reader) => {
      const data = readMembers(reader, layout.fields);
      for (const [name, type] of layout.later) {
        if (reader.remaining === 0) break;
        data[name] = readValue(reader, type);
      }
      return data;
    });
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}
