import { describe, expect, it } from 'vitest';
import { BufferPool } from './buffer-pool.ts';

const source = Buffer.alloc(300 * 1024, 'abc');

describe('buffer pool', () => {
  it('reuses memory after its release only', () => {
    const pieces = new BufferPool();
    const first = pieces.copyOf(source, 0, 40_000);
    const second = pieces.copyOf(source, 1, 40_001);
    expect(first.equals(source.subarray(0, 40_000))).toBe(true);
    expect(second.buffer).not.toBe(first.buffer);
    pieces.release(first);
    const third = pieces.copyOf(source, 2, 50_000);
    expect(third.buffer).toBe(first.buffer);
    expect(third.equals(source.subarray(2, 50_000))).toBe(true);
  });

  it('prepends withheld bytes in the headroom if they fit', () => {
    const pieces = new BufferPool();
    const held = Buffer.from('held');
    for (const piece of [pieces.copyOf(source, 0, 40_000), pieces.allocate().subarray(0, 40_000)]) {
      source.copy(piece, 0, 0, 40_000);
      const whole = pieces.prepend(held, piece);
      expect(whole.buffer).toBe(piece.buffer);
      expect(whole.equals(Buffer.concat([held, source.subarray(0, 40_000)]))).toBe(true);
      // In front of a part stands the rest of the piece, and of more than there is room for nothing may be lost.
      const rest = pieces.prepend(held, piece.subarray(1));
      expect(rest.equals(Buffer.concat([held, source.subarray(1, 40_000)]))).toBe(true);
      expect(pieces.isPooled(piece)).toBe(false);
      expect(piece.equals(source.subarray(0, 40_000))).toBe(true);
      const long = source.subarray(0, 65);
      expect(pieces.prepend(long, piece).equals(Buffer.concat([long, piece]))).toBe(true);
      expect(pieces.prepend(Buffer.alloc(0), piece)).toBe(piece);
    }
    const own = pieces.copyOf(source, 0, 100);
    expect(pieces.prepend(held, own).equals(Buffer.concat([held, own]))).toBe(true);
  });

  it('releases memory once, also by a part of it, and only pooled memory', () => {
    const pieces = new BufferPool();
    const piece = pieces.copyOf(source, 0, 40_000);
    pieces.release(piece.subarray(30, 60));
    pieces.release(piece);
    pieces.release(pieces.copyOf(source, 0, 10));
    pieces.release(Buffer.alloc(64 * 1024));
    expect(pieces.freeBytes).toBe(64 * 1024);
  });

  it('picks the fitting size and allocates larger chunks', () => {
    const pieces = new BufferPool();
    for (const [length, room] of [
      [64 * 1024, 64 + 64 * 1024],
      [64 * 1024 + 1, 64 + 256 * 1024],
      [256 * 1024, 64 + 256 * 1024],
      [256 * 1024 + 1, 256 * 1024 + 1],
    ] as const) {
      const piece = pieces.copyOf(source, 5, 5 + length);
      expect(piece.equals(source.subarray(5, 5 + length))).toBe(true);
      expect(piece.buffer.byteLength).toBe(room);
    }
  });

  it('limits free memory', () => {
    const pieces = new BufferPool();
    const allocated = [40_000, 200_000].flatMap((length) =>
      Array.from({ length: 100 }, () => pieces.copyOf(source, 0, length)),
    );
    for (const piece of allocated) pieces.release(piece);
    expect(pieces.freeBytes).toBe(64 * 64 * 1024 + 64 * 256 * 1024);
  });
});
