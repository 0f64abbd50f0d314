import { describe, expect, it } from 'vitest';
import { AbuseBlocklist } from './abuse-blocklist.ts';

describe('AbuseBlocklist', () => {
  it('blocks an address for the configured time', () => {
    const blocklist = new AbuseBlocklist(3_000, 10);
    blocklist.add('203.0.113.7', 100);
    expect(blocklist.has('203.0.113.7', 3_099)).toBe(true);
    expect(blocklist.has('203.0.113.8', 3_099)).toBe(false);
    expect(blocklist.has('203.0.113.7', 3_100)).toBe(false);
  });

  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])('blocks the loopback address %s for one second', (address) => {
    const blocklist = new AbuseBlocklist(60_000, 10);
    blocklist.add(address, 0);
    expect([blocklist.has(address, 999), blocklist.has(address, 1_000)]).toEqual([true, false]);
  });

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
