import { describe, expect, it } from 'vitest';
import { BufferPool } from './buffer-pool.ts';

const source = Buffer.alloc(300 * 1024, 'abc');

describe('buffer pool', () => {
  it('reuses memory after its release only', () => {
    const pool = new BufferPool();
    const first = pool.copyOf(source, 0, 40_000);
    const second = pool.copyOf(source, 1, 40_001);
    expect(first.equals(source.subarray(0, 40_000))).toBe(true);
    expect(second.buffer).not.toBe(first.buffer);
    pool.release(first);
    const third = pool.copyOf(source, 2, 50_000);
    expect(third.buffer).toBe(first.buffer);
    expect(third.equals(source.subarray(2, 50_000))).toBe(true);
  });

  it('prepends withheld bytes in the headroom if they fit', () => {
    const pool = new BufferPool();
    const held = Buffer.from('held');
    for (const piece of [pool.copyOf(source, 0, 40_000), pool.allocate().subarray(0, 40_000)]) {
      source.copy(piece, 0, 0, 40_000);
      const whole = pool.prepend(held, piece);
      expect(whole.buffer).toBe(piece.buffer);
      expect(whole.equals(Buffer.concat([held, source.subarray(0, 40_000)]))).toBe(true);
      // The bytes before a part belong to the same piece, and a long prefix exceeds the headroom: both are copied.
      const rest = pool.prepend(held, piece.subarray(1));
      expect(rest.equals(Buffer.concat([held, source.subarray(1, 40_000)]))).toBe(true);
      expect(pool.isPooled(piece)).toBe(false);
      expect(piece.equals(source.subarray(0, 40_000))).toBe(true);
      const long = source.subarray(0, 65);
      expect(pool.prepend(long, piece).equals(Buffer.concat([long, piece]))).toBe(true);
      expect(pool.prepend(Buffer.alloc(0), piece)).toBe(piece);
    }
    const own = pool.copyOf(source, 0, 100);
    expect(pool.prepend(held, own).equals(Buffer.concat([held, own]))).toBe(true);
  });

  it('releases memory once, also by a part of it, and only pooled memory', () => {
    const pool = new BufferPool();
    const piece = pool.copyOf(source, 0, 40_000);
    pool.release(piece.subarray(30, 60));
    pool.release(piece);
    pool.release(pool.copyOf(source, 0, 10));
    pool.release(Buffer.alloc(64 * 1024));
    expect(pool.freeBytes).toBe(64 * 1024);
  });

  it('picks the fitting size and allocates larger chunks', () => {
    const pool = new BufferPool();
    for (const [length, size] of [
      [64 * 1024, 64 + 64 * 1024],
      [64 * 1024 + 1, 64 + 256 * 1024],
      [256 * 1024, 64 + 256 * 1024],
      [256 * 1024 + 1, 256 * 1024 + 1],
    ] as const) {
      const piece = pool.copyOf(source, 5, 5 + length);
      expect(piece.equals(source.subarray(5, 5 + length))).toBe(true);
      expect(piece.buffer.byteLength).toBe(size);
    }
  });

  it('limits free memory', () => {
    const pool = new BufferPool();
    const allocated = [40_000, 200_000].flatMap((length) =>
      Array.from({ length: 100 }, () => pool.copyOf(source, 0, length)),
    );
    for (const piece of allocated) pool.release(piece);
    expect(pool.freeBytes).toBe(64 * 64 * 1024 + 64 * 256 * 1024);
  });
});
