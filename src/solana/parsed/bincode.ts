import type { ByteReader } from '../../base/bytes.ts';
import { InvalidEncoding, utf8 } from '../codec.ts';
import { U64_MAX } from '../units.ts';

/** Reads a u64 length. Rounding above 2^53 is harmless, because no data is that long. */
const readLength = (data: ByteReader): number => Number(data.u64());

export const readText = (data: ByteReader): string => utf8(data.bytes(readLength(data)));

export const readBase64 = (data: ByteReader): string =>
  Buffer.from(data.bytes(readLength(data))).toString('base64');

export function readBool(data: ByteReader): boolean {
  const value = data.u8();
  if (value > 1) throw new InvalidEncoding('invalid boolean');
  return value === 1;
}

/** Reads a u32 discriminant and returns its name. */
export function readName(data: ByteReader, names: readonly string[]): string {
  const name = names[data.u32()];
  if (name === undefined) throw new InvalidEncoding('unknown variant');
  return name;
}

/** Source: solana-serde-varint. */
export function readVarint(data: ByteReader): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 64n; shift += 7n) {
    const byte = data.u8();
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (value > U64_MAX || (byte === 0 && shift > 0n)) break;
      return value;
    }
  }
  throw new InvalidEncoding('invalid varint');
}
