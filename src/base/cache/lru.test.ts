import { describe, expect, it } from 'vitest';
import { Lru } from './lru.ts';

describe('LRU map', () => {
  it('evicts the least recently used entry', () => {
    const lru = new Lru<string, number>(2);
    lru.set('a', 1);
    lru.set('b', 2);
    expect(lru.get('a')).toBe(1);
    lru.set('c', 3);
    expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([1, undefined, 3]);
  });

  it('never evicts the most recently used three quarters', () => {
    const lru = new Lru<number, number>(100);
    for (let i = 0; i < 100; i++) lru.set(i, i);
    lru.get(7);
    for (let other = 100; other < 10_000; other++) {
      lru.set(other, other);
      if (other % 70 === 0) expect(lru.get(7)).toBe(7);
    }
    expect(lru.size).toBe(100);
    expect(lru.get(8)).toBeUndefined();
  });

  it('replaces a value without an eviction', () => {
    const lru = new Lru<string, number>(2);
    lru.set('a', 1);
    lru.set('b', 2);
    lru.set('b', 3);
    expect([lru.get('a'), lru.get('b')]).toEqual([1, 3]);
  });

  it('restarts iteration at its end, also after changes', () => {
    const lru = new Lru<string, number>(10);
    expect(lru.next()).toBeNull();
    for (const [at, name] of ['a', 'b', 'c'].entries()) lru.set(name, at);
    expect(lru.next()).toMatchObject({ key: 'a', value: 0 });
    lru.delete('b');
    lru.set('d', 3);
    expect([lru.next()?.key, lru.next()?.key, lru.next()]).toEqual(['c', 'd', null]);
    expect([lru.next()?.key, lru.next()?.key]).toEqual(['a', 'c']);
  });

  it('rejects a size of 0', () => {
    expect(() => new Lru(0)).toThrow(RangeError);
  });
});
