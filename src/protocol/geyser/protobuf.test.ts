import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { U64_MAX } from '../../solana/units.ts';
import { InvalidProtobuf, ProtobufReader } from './protobuf.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

function first(bytes: readonly number[]): ProtobufReader {
  const reader = new ProtobufReader(Uint8Array.from(bytes));
  reader.next();
  return reader;
}

describe('a protobuf message', () => {
  it('round-trips', () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, U64_MAX),
        fc.nat(0xffff_ffff),
        fc.boolean(),
        fc.uint8Array({ maxLength: 300 }),
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 1, max: 2 ** 29 - 1 }),
        (u64, u32, flag, bytes, text, field) => {
          const inner = new ProtobufWriter().uint64(1, u64).uint32(2, u32);
          const wire = new ProtobufWriter()
            .bool(field, flag)
            .bytes(2, bytes)
            .string(3, text)
            .message(4, inner);
          const reader = new ProtobufReader(wire.finish());
          expect([reader.next(), reader.field, reader.bool()]).toEqual([true, field, flag]);
          expect([reader.next(), reader.bytes()]).toEqual([true, bytes]);
          expect([reader.next(), reader.string()]).toEqual([true, text]);
          expect(reader.next()).toBe(true);
          const message = reader.message();
          expect([message.next(), message.uint64()]).toEqual([true, u64]);
          expect([message.next(), message.uint32()]).toEqual([true, u32]);
          expect([message.next(), reader.next()]).toEqual([false, false]);
        },
      ),
    );
  });

  it('is written completely with any initial capacity', () => {
    for (let capacity = 1; capacity < 80; capacity++) {
      const writer = new ProtobufWriter(capacity);
      const outer = writer.open(1);
      writer.bytes(1, new Uint8Array(30).fill(7));
      const inner = writer.open(2, 200);
      writer.string(1, 'é').uint64(2, 1n << 63n);
      writer.close(inner);
      writer.close(outer);
      const reader = first([...writer.finish()]).message();
      expect([reader.next(), reader.bytes(), reader.next()]).toEqual([
        true,
        new Uint8Array(30).fill(7),
        true,
      ]);
      const message = reader.message();
      expect([message.next(), message.string(), message.next(), message.uint64()]).toEqual([
        true,
        'é',
        true,
        1n << 63n,
      ]);
    }
  });

  it('accepts packed and unpacked lists of numbers', () => {
    const list: bigint[] = [];
    const reader = new ProtobufReader(Uint8Array.of(0x0a, 3, 1, 0x80, 1, 0x08, 5));
    while (reader.next()) reader.pushUint64s(list);
    expect(list).toEqual([1n, 128n, 5n]);
  });

  it('skips fields of every wire type', () => {
    const reader = new ProtobufReader(
      Uint8Array.from([0x08, 0x80, 1, 0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x0a, 2, 9, 9, 0x0d, 1, 2, 3, 4]),
    );
    let fields = 0;
    for (; reader.next(); fields++) reader.skipField();
    expect(fields).toBe(4);
  });

  it('keeps the sign of a number and drops excess high bits', () => {
    const minusOne = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    expect(first([0x08, ...minusOne, 0x01]).int64()).toBe(-1n);
    expect(first([0x08, ...minusOne, 0x01]).int32()).toBe(-1);
    expect(first([0x08, ...minusOne, 0x7f]).uint64()).toBe(U64_MAX);
  });

  it.each([
    ['an unterminated varint', [0x08, 0x80], (reader: ProtobufReader) => reader.uint64()],
    ['truncated bytes', [0x0a, 5, 1], (reader: ProtobufReader) => reader.bytes()],
    ['a truncated double', [0x09, 5, 1], (reader: ProtobufReader) => reader.double()],
    ['another wire type', [0x0a, 1, 1], (reader: ProtobufReader) => reader.uint64()],
    ['a group', [0x0b], (reader: ProtobufReader) => reader.skipField()],
    ['text that is not UTF-8', [0x0a, 1, 0xff], (reader: ProtobufReader) => reader.string()],
    ['an address of 31 bytes', [0x0a, 1, 1], (reader: ProtobufReader) => reader.fixedBytes(32)],
    ['a byte above 255', [0x08, 0x80, 2], (reader: ProtobufReader) => reader.u8()],
  ])('is rejected with %s', (_name, bytes, read) => {
    expect(() => read(first(bytes))).toThrow(InvalidProtobuf);
  });

  it.each([
    ['number 0', [0x00]],
    ['a number beyond 2^29', [0x80, 0x80, 0x80, 0x80, 0x80, 1]],
  ])('is rejected with a field of %s', (_name, bytes) => {
    expect(() => first(bytes)).toThrow(InvalidProtobuf);
  });
});
