import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Block } from '../../solana/block.ts';
import { slot } from '../../solana/units.ts';
import { BlockCache } from './chain-reader.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const read = Promise.resolve({} as Block);

function cacheOf(...bytes: number[]): BlockCache {
  const cache = new BlockCache({ blocksMax: 3, bytesMax: 100, idleMs: 1_000 });
  for (const [at, size] of bytes.entries()) {
    cache.set(slot(at + 1), read);
    cache.setSize(slot(at + 1), size);
  }
  return cache;
}

const has = (cache: BlockCache, ...slots: number[]): boolean[] =>
  slots.map((one) => cache.get(slot(one)) !== undefined);

it('caches a limited number of blocks and evicts the least recently used', () => {
  const cache = cacheOf(1, 1, 1);
  cache.get(slot(1));
  cache.set(slot(4), read);
  expect(has(cache, 1, 2, 3, 4)).toEqual([true, false, true, true]);
});

it('limits the cached bytes but keeps the newest block', () => {
  expect(has(cacheOf(60, 50), 1, 2)).toEqual([false, true]);
  expect(has(cacheOf(10, 1_000), 1, 2)).toEqual([false, true]);
  const cache = cacheOf(60, 30);
  cache.delete(slot(1));
  cache.set(slot(3), read);
  cache.setSize(slot(3), 70);
  expect(has(cache, 2, 3)).toEqual([true, true]);
});

it('clears the cache when idle', () => {
  const cache = cacheOf(1, 1);
  vi.advanceTimersByTime(900);
  cache.get(slot(1));
  vi.advanceTimersByTime(900);
  expect(cache.size).toBe(2);
  vi.advanceTimersByTime(100);
  expect(cache.size).toBe(0);
});
