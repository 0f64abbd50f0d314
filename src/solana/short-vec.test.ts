import { getShortU16Encoder } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter, OutOfBytes } from '../base/bytes.ts';
import { InvalidShortVec, readShortVec, writeShortVec } from './short-vec.ts';

const read = (...bytes: number[]): number => readShortVec(new ByteReader(Uint8Array.from(bytes)));

function write(length: number): Uint8Array {
  const writer = new ByteWriter();
  writeShortVec(writer, length);
  return writer.finish();
}

describe('compact length', () => {
  it("has one encoding per value, equal to kit's", () => {
    const oracle = getShortU16Encoder();
    for (let length = 0; length <= 0xffff; length++) {
      const bytes = write(length);
      if (length % 97 === 0) expect([...bytes]).toEqual([...oracle.encode(length)]);
      if (readShortVec(new ByteReader(bytes)) !== length) expect.fail(`${length} is not read back`);
    }
  });

  it('rejects overlong encodings with the text of solana-short-vec', () => {
    for (const bytes of [
      [0x80, 0x00],
      [0x80, 0x80, 0x00],
      [0xff, 0x00],
      [0xff, 0x80, 0x00],
      [0x80, 0x81, 0x00],
      [0xff, 0x81, 0x00],
    ]) {
      expect(() => read(...bytes)).toThrow('Invalid value: short u16: non-canonical encoding');
    }
  });

  it('rejects values above 65535 and a fourth byte', () => {
    expect(() => read(0x80, 0x80, 0x04)).toThrow(
      'Sequence length would overflow length encoding scheme: u16::MAX',
    );
    expect(() => read(0x80, 0x80, 0x80, 0x06)).toThrow('Sequence length would overflow');
    expect(() => read(0xff, 0xff, 0x04)).toThrow(InvalidShortVec);
  });

  it('rejects truncation', () => {
    expect(() => read()).toThrow(OutOfBytes);
    expect(() => read(0x80)).toThrow(OutOfBytes);
    expect(() => read(0x80, 0x80)).toThrow(OutOfBytes);
  });

  it('does not encode values out of range', () => {
    for (const length of [-1, 0x10000, 1.5, Number.NaN]) expect(() => write(length)).toThrow(RangeError);
  });
});
