import { describe, expect, it } from 'vitest';
import { AbuseBlocklist, LeakyBucket } from './abuse-limits.ts';

describe('AbuseBlocklist', () => {
  it('blocks an address for the configured time', () => {
    const blocklist = new AbuseBlocklist(3_000, 10);
    blocklist.add('203.0.113.7', 100);
    expect(blocklist.has('203.0.113.7', 3_099)).toBe(true);
    expect(blocklist.has('203.0.113.8', 3_099)).toBe(false);
    expect(blocklist.has('203.0.113.7', 3_100)).toBe(false);
  });

  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])(
    'blocks the loopback address %s for one second',
    (address) => {
      const blocklist = new AbuseBlocklist(60_000, 10);
      blocklist.add(address, 0);
      expect([blocklist.has(address, 999), blocklist.has(address, 1_000)]).toEqual([true, false]);
    },
  );

  it('blocks the whole /64 of an IPv6 address', () => {
    const blocklist = new AbuseBlocklist(3_000, 10);
    blocklist.add('2001:db8::1', 0);
    expect(blocklist.has('2001:db8::ffff:2', 1)).toBe(true);
    expect(blocklist.has('2001:db8:0:1::1', 1)).toBe(false);
  });

  it('evicts the oldest address when full', () => {
    const blocklist = new AbuseBlocklist(3_000, 2);
    for (const address of ['a', 'b', 'c']) blocklist.add(address, 0);
    expect(['a', 'b', 'c'].map((address) => blocklist.has(address, 1))).toEqual([false, true, true]);
  });

  it('blocks nothing with a time of 0', () => {
    const blocklist = new AbuseBlocklist(0, 2);
    blocklist.add('a', 0);
    expect(blocklist.has('a', 0)).toBe(false);
  });
});

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
