import { describe, expect, it } from 'vitest';
import { AbuseBlocklist } from './abuse-blocklist.ts';

describe('an address that flooded', () => {
  it('is kept out for some time', () => {
    const offenders = new AbuseBlocklist(3_000, 10);
    offenders.add('203.0.113.7', 100);
    expect(offenders.has('203.0.113.7', 3_099)).toBe(true);
    expect(offenders.has('203.0.113.8', 3_099)).toBe(false);
    expect(offenders.has('203.0.113.7', 3_100)).toBe(false);
  });

  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])('is kept out for a second when it is %s', (address) => {
    const offenders = new AbuseBlocklist(60_000, 10);
    offenders.add(address, 0);
    expect([offenders.has(address, 999), offenders.has(address, 1_000)]).toEqual([true, false]);
  });

  it('is kept out with all of its 64 bits when it is one of IPv6', () => {
    const offenders = new AbuseBlocklist(3_000, 10);
    offenders.add('2001:db8::1', 0);
    expect(offenders.has('2001:db8::ffff:2', 1)).toBe(true);
    expect(offenders.has('2001:db8:0:1::1', 1)).toBe(false);
  });

  it('is forgotten when there are too many', () => {
    const offenders = new AbuseBlocklist(3_000, 2);
    for (const address of ['a', 'b', 'c']) offenders.add(address, 0);
    expect(['a', 'b', 'c'].map((address) => offenders.has(address, 1))).toEqual([false, true, true]);
  });

  it('is not kept out when nobody should be', () => {
    const offenders = new AbuseBlocklist(0, 2);
    offenders.add('a', 0);
    expect(offenders.has('a', 0)).toBe(false);
  });
});
