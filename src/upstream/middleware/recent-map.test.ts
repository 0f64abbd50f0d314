import { describe, expect, it } from 'vitest';
import { RecentMap } from './call-key.ts';

const of = (weight: number) => ({ weight });

describe('recent map', () => {
  it('keeps recent and repeatedly used entries', () => {
    const map = new RecentMap<string, { weight: number }>(20, 1_000);
    map.set('hot', of(1));
    for (let i = 0; i < 200; i++) {
      map.set(`${i}`, of(1));
      expect(map.get('hot')).toEqual(of(1));
      expect(map.size).toBeLessThanOrEqual(20);
    }
    expect([map.get('199'), map.get('150')]).toEqual([of(1), undefined]);
  });

  it('limits the total weight', () => {
    const map = new RecentMap<number, { weight: number }>(1_000, 100);
    for (let i = 0; i < 200; i++) map.set(i, of(10));
    expect(map.size).toBeLessThanOrEqual(10);
    map.set(999, of(51));
    expect(map.get(999)).toBeUndefined();
  });
});
