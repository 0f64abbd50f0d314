import { describe, expect, it } from 'vitest';
import { LeakyBucket } from './leaky-bucket.ts';

/** Events accepted at a constant rate before the limit is exceeded. */
function accepted(bucket: LeakyBucket, perSecond: number, seconds: number): number {
  for (let n = 0; n < perSecond * seconds; n++) {
    if (bucket.add(1, 5_000 + (n * 1_000) / perSecond)) return n;
  }
  return perSecond * seconds;
}

describe('LeakyBucket', () => {
  it('sustains its rate and allows no more than its burst beyond it', () => {
    expect(accepted(new LeakyBucket(100, 100), 100, 60)).toBe(6_000);
    expect(accepted(new LeakyBucket(100, 100), 200, 60)).toBeLessThanOrEqual(200);
    expect(accepted(new LeakyBucket(100, 200), 400, 60)).toBeLessThanOrEqual(267);
  });

  it('accepts its whole burst at once, and again after the time to leak it', () => {
    const bucket = new LeakyBucket(100, 200);
    expect([bucket.add(200, 5_000), bucket.add(1, 5_000)]).toEqual([false, true]);
    expect([bucket.add(100, 6_010), bucket.add(1, 6_010)]).toEqual([false, true]);
    bucket.reset();
    expect([bucket.add(200, 6_010), bucket.add(1, 6_010)]).toEqual([false, true]);
  });
});
