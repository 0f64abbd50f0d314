import { describe, expect, it } from 'vitest';
import { WeightedLru } from './weighted-lru.ts';

const of = (weight: number) => ({ weight });

describe('a map bounded by weight', () => {
  it('forgets what was not asked for longest, until the rest fits', () => {
    const map = new WeightedLru<string, { weight: number }>(10, 100);
    for (const name of ['a', 'b', 'c', 'd']) map.set(name, of(25));
    map.set('e', of(60));
    expect(['a', 'b', 'c', 'd', 'e'].filter((name) => map.get(name) !== undefined)).toEqual(['d', 'e']);
    expect([map.size, map.weight, map.evictions]).toEqual([2, 85, 3]);
  });

  it('keeps what is asked for, though few of many entries fit', () => {
    const map = new WeightedLru<number, { weight: number }>(1_000, 100);
    for (let i = 0; i < 50; i++) {
      map.set(i, of(25));
      map.get(0);
    }
    expect([map.get(0), map.get(46), map.get(47)]).toEqual([of(25), undefined, of(25)]);
  });

  it('holds no more entries than it may', () => {
    const map = new WeightedLru<number, { weight: number }>(3, 100);
    for (let i = 0; i < 10; i++) map.set(i, of(1));
    expect([map.size, map.weight, map.evictions]).toEqual([3, 3, 7]);
  });

  it('takes nothing that is heavier than all, and forgets what it would have replaced', () => {
    const map = new WeightedLru<string, { weight: number }>(3, 100);
    map.set('a', of(40));
    map.set('a', of(101));
    expect([map.get('a'), map.size, map.weight]).toEqual([undefined, 0, 0]);
  });

  it('forgets what is over by and by, a few at a time, and nothing else', () => {
    const map = new WeightedLru<number, { weight: number; isOver: boolean }>(1_000, 1_000);
    for (let i = 0; i < 100; i++) map.set(i, { weight: 1, isOver: i % 2 === 0 });
    map.sweep(10, ({ isOver }) => isOver);
    expect(map.size).toBe(95);
    // Once round, and what came meanwhile; the turn that ends a round looks at none.
    for (let i = 100; i < 150; i++) {
      map.set(i, { weight: 1, isOver: false });
      map.sweep(3, ({ isOver }) => isOver);
    }
    const left = Array.from({ length: 150 }, (_, i) => i).filter((i) => map.get(i) !== undefined);
    expect(left).toEqual(Array.from({ length: 150 }, (_, i) => i).filter((i) => i % 2 === 1 || i >= 100));
    expect([map.size, map.weight, map.evictions]).toEqual([100, 100, 0]);
  });

  it('weighs what replaces another once', () => {
    const map = new WeightedLru<string, { weight: number }>(3, 100);
    map.set('a', of(40));
    map.set('a', of(50));
    expect([map.weight, map.evictions]).toEqual([50, 0]);
    map.delete('a');
    expect(map.weight).toBe(0);
  });
});
