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

/** A cache with blocks of these sizes at slots 1, 2, … */
function keep(...bytes: number[]): BlockCache {
  const kept = new BlockCache({ blocksMax: 3, bytesMax: 100, idleMs: 1_000 });
  for (const [at, size] of bytes.entries()) {
    kept.set(slot(at + 1), read);
    kept.setSize(slot(at + 1), size);
  }
  return kept;
}

const has = (kept: BlockCache, ...slots: number[]): boolean[] =>
  slots.map((one) => kept.get(slot(one)) !== undefined);

it('keeps so many, and those that were asked for last', () => {
  const kept = keep(1, 1, 1);
  kept.get(slot(1));
  kept.set(slot(4), read);
  expect(has(kept, 1, 2, 3, 4)).toEqual([true, false, true, true]);
});

it('keeps so many bytes, but always the newest', () => {
  expect(has(keep(60, 50), 1, 2)).toEqual([false, true]);
  expect(has(keep(10, 1_000), 1, 2)).toEqual([false, true]);
  const kept = keep(60, 30);
  kept.delete(slot(1));
  kept.set(slot(3), read);
  kept.setSize(slot(3), 70);
  expect(has(kept, 2, 3)).toEqual([true, true]);
});

it('forgets all when nobody asks for a while', () => {
  const kept = keep(1, 1);
  vi.advanceTimersByTime(900);
  kept.get(slot(1));
  vi.advanceTimersByTime(900);
  expect(kept.size).toBe(2);
  vi.advanceTimersByTime(100);
  expect(kept.size).toBe(0);
});
