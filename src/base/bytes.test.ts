import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter, OutOfBytes } from './bytes.ts';

describe('byte reader', () => {
  it('reads little-endian fields in sequence', () => {
    const reader = new ByteReader(Uint8Array.of(1, 2, 1, 3, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0x80, 9, 9));
    expect([reader.u8(), reader.u16(), reader.u32(), reader.u64()]).toEqual([
      1,
      0x0102,
      0x01000003,
      0x8000000000000001n,
    ]);
    expect([reader.offset, reader.remaining]).toEqual([15, 2]);
  });

  it('throws at the end and keeps its offset', () => {
    const reader = new ByteReader(Uint8Array.of(1, 2, 3));
    expect(() => reader.u32()).toThrow(OutOfBytes);
    expect(() => reader.bytes(4)).toThrow(OutOfBytes);
    expect(() => reader.bytes(-1)).toThrow(OutOfBytes);
    expect(reader.offset).toBe(0);
  });
});

it('byte writer writes what the reader reads back', () => {
  const field = fc.oneof(
    fc.record({ kind: fc.constant('u8' as const), value: fc.nat(0xff) }),
    fc.record({ kind: fc.constant('u16' as const), value: fc.nat(0xffff) }),
    fc.record({ kind: fc.constant('u32' as const), value: fc.nat(0xffffffff) }),
    fc.record({ kind: fc.constant('u64' as const), value: fc.bigInt(0n, 2n ** 64n - 1n) }),
    fc.record({ kind: fc.constant('i64' as const), value: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n) }),
    fc.record({ kind: fc.constant('f64' as const), value: fc.double() }),
    fc.record({ kind: fc.constant('bool' as const), value: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(field, { maxLength: 60 }), (fields) => {
      const writer = new ByteWriter(1);
      for (const { kind, value } of fields)
        (writer[kind] as (value: number | bigint | boolean) => unknown)(value);
      const reader = new ByteReader(writer.finish());
      expect(fields.map(({ kind }) => reader[kind]())).toEqual(fields.map(({ value }) => value));
      expect(reader.remaining).toBe(0);
    }),
  );
});
