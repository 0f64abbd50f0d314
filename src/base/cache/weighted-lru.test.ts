import { describe, expect, it } from 'vitest';
import { WeightedLru } from './weighted-lru.ts';

const of = (weight: number) => ({ weight });

describe('weighted LRU map', () => {
  it('evicts the least recently used entries until the rest fits', () => {
    const map = new WeightedLru<string, { weight: number }>(10, 100);
    for (const name of ['a', 'b', 'c', 'd']) map.set(name, of(25));
    map.get('a');
    map.set('e', of(60));
    expect(['a', 'b', 'c', 'd', 'e'].filter((name) => map.get(name) !== undefined)).toEqual(['a', 'e']);
    expect([map.size, map.weight, map.evictions]).toEqual([2, 85, 3]);
  });

  it('limits the number of entries', () => {
    const map = new WeightedLru<number, { weight: number }>(3, 100);
    for (let i = 0; i < 10; i++) map.set(i, of(1));
    expect([map.size, map.weight, map.evictions]).toEqual([3, 3, 7]);
  });

  it('ignores a value heavier than the limit and removes the replaced one', () => {
    const map = new WeightedLru<string, { weight: number }>(3, 100);
    map.set('a', of(40));
    map.set('a', of(101));
    expect([map.get('a'), map.size, map.weight]).toEqual([undefined, 0, 0]);
  });

  it('removes expired entries a few at a time', () => {
    const map = new WeightedLru<number, { weight: number; isOver: boolean }>(1_000, 1_000);
    for (let i = 0; i < 100; i++) map.set(i, { weight: 1, isOver: i % 2 === 0 });
    map.sweep(10, ({ isOver }) => isOver);
    expect(map.size).toBe(95);
    // One full pass, including entries added meanwhile. The check at the end of a pass returns no entry.
    for (let i = 100; i < 150; i++) {
      map.set(i, { weight: 1, isOver: false });
      map.sweep(3, ({ isOver }) => isOver);
    }
    const left = Array.from({ length: 150 }, (_, i) => i).filter((i) => map.get(i) !== undefined);
    expect(left).toEqual(Array.from({ length: 150 }, (_, i) => i).filter((i) => i % 2 === 1 || i >= 100));
    expect([map.size, map.weight, map.evictions]).toEqual([100, 100, 0]);
  });
});
