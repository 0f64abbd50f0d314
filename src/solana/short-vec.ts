import type { ByteReader, ByteWriter } from '../base/bytes.ts';
import { InvalidEncoding } from './codec.ts';

/** Error messages match Agave's. */
export class InvalidShortVec extends InvalidEncoding {
  override readonly name = 'InvalidShortVec';
}

/** Reads a canonical compact-u16. Source: solana-short-vec. @throws InvalidShortVec, OutOfBytes */
export function readShortVec(reader: ByteReader): number {
  let value = 0;
  for (let nth = 0; nth < 3; nth++) {
    const byte = reader.u8();
    if (byte === 0 && nth > 0) {
      throw new InvalidShortVec('Invalid value: short u16: non-canonical encoding');
    }
    value |= (byte & 0x7f) << (nth * 7);
    if (byte <= 0x7f && value <= 0xffff) return value;
  }
  throw new InvalidShortVec('Sequence length would overflow length encoding scheme: u16::MAX');
}

/** @param length - 0 to 65535. @throws RangeError */
export function writeShortVec(writer: ByteWriter, length: number): void {
  if (!Number.isInteger(length) || length < 0 || length > 0xffff) {
    throw new RangeError(`a compact length must be from 0 to 65535, not ${length}`);
  }
  let rest = length;
  while (rest > 0x7f) {
    writer.u8((rest & 0x7f) | 0x80);
    rest >>= 7;
  }
  writer.u8(rest);
}
