import { describe, expect, it } from 'vitest';
import { LeakyBucket } from './leaky-bucket.ts';

/** How many of so many a second are borne for so long before there are too many. */
function borne(bucket: LeakyBucket, perSecond: number, seconds: number): number {
  for (let n = 0; n < perSecond * seconds; n++) {
    if (bucket.add(1, 5_000 + (n * 1_000) / perSecond)) return n;
  }
  return perSecond * seconds;
}

describe('a count that leaks', () => {
  it('bears its rate for ever, and no more than its burst beyond that', () => {
    expect(borne(new LeakyBucket(100, 100), 100, 60)).toBe(6_000);
    expect(borne(new LeakyBucket(100, 100), 200, 60)).toBeLessThanOrEqual(200);
    expect(borne(new LeakyBucket(100, 200), 400, 60)).toBeLessThanOrEqual(267);
  });

  it('takes its burst at once, and again when as much time has passed', () => {
    const bucket = new LeakyBucket(100, 200);
    expect([bucket.add(200, 5_000), bucket.add(1, 5_000)]).toEqual([false, true]);
    expect([bucket.add(100, 6_010), bucket.add(1, 6_010)]).toEqual([false, true]);
    bucket.reset();
    expect([bucket.add(200, 6_010), bucket.add(1, 6_010)]).toEqual([false, true]);
  });
});
