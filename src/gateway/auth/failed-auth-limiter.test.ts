import { describe, expect, it } from 'vitest';
import { clientInfoFor } from '../../../test/project/callers.ts';
import { type ClientInfo, unknownClient } from '../../protocol/client-info.ts';
import type { Failure } from '../../protocol/errors.ts';
import { FailedAuthLimiter, type FailedAuthOptions, failedAuthOptions } from './failed-auth-limiter.ts';

const client = clientInfoFor('192.0.2.1');

function fail(limiter: FailedAuthLimiter, from: ClientInfo, keys: number, nowMs = 0): void {
  for (let key = 0; key < keys; key++) limiter.recordFailure(from, nowMs);
}

function rejectionOf(limiter: FailedAuthLimiter, from: ClientInfo, nowMs = 0): Failure | null {
  try {
    limiter.check(from, nowMs);
    return null;
  } catch (thrown) {
    return thrown as Failure;
  }
}

describe('failed-authentication limiter', () => {
  const open = (options: Partial<FailedAuthOptions> = {}) =>
    new FailedAuthLimiter({
      ...failedAuthOptions,
      failedAuthPerMinute: 3,
      failedAuthBlockMs: 10_000,
      ...options,
    });

  it('blocks an address at the limit per minute, for failedAuthBlockMs', () => {
    const limiter = open();
    fail(limiter, client, 2, 1_000);
    expect(rejectionOf(limiter, client, 1_000)).toBeNull();
    fail(limiter, client, 1, 60_999);
    expect(rejectionOf(limiter, client, 60_999)).toMatchObject({
      code: 'TOO_MANY_WRONG_KEYS',
      retryAfter: 10,
    });
    expect(rejectionOf(limiter, client, 70_998)).toMatchObject({ retryAfter: 1 });
    expect(rejectionOf(limiter, client, 70_999)).toBeNull();
  });

  it('resets after a minute and after a block', () => {
    const limiter = open();
    fail(limiter, client, 2, 0);
    fail(limiter, client, 2, 60_000);
    expect(rejectionOf(limiter, client, 60_000)).toBeNull();
    fail(limiter, client, 1, 60_001);
    fail(limiter, client, 2, 80_000);
    expect(rejectionOf(limiter, client, 80_000)).toBeNull();
    fail(limiter, client, 1, 80_000);
    expect(rejectionOf(limiter, client, 80_000)).not.toBeNull();
  });

  it('counts IPv6 addresses per /64 and IPv4 addresses singly', () => {
    const limiter = open();
    fail(limiter, clientInfoFor('2001:db8:1:2::1'), 3);
    fail(limiter, clientInfoFor('::ffff:192.0.2.9'), 3);
    const refused = ['2001:db8:1:2:ffff::1', '2001:db8:1:3::1', '192.0.2.9', '192.0.2.8'].map(
      (address) => rejectionOf(limiter, clientInfoFor(address)) !== null,
    );
    expect(refused).toEqual([true, false, true, false]);
  });

  it('does not count exempt addresses and proxies', () => {
    const limiter = open({ failedAuthExempt: ['198.51.100.0/24'] });
    const proxy = { ...client, isProxy: true };
    for (const from of [clientInfoFor('198.51.100.1'), proxy, unknownClient]) {
      fail(limiter, from, 10);
      expect(rejectionOf(limiter, from)).toBeNull();
    }
    expect(limiter.size).toBe(0);
    const usual = new FailedAuthLimiter({ ...failedAuthOptions, failedAuthPerMinute: 1 });
    for (const from of [clientInfoFor('127.0.0.1'), clientInfoFor('::1')]) fail(usual, from, 1);
    expect(usual.size).toBe(0);
  });

  it('counts at most addressesMax addresses and keeps active ones', () => {
    const limiter = open({ addressesMax: 100 });
    fail(limiter, client, 3);
    for (let other = 0; other < 10_000; other++) {
      limiter.recordFailure(clientInfoFor(`10.0.${other >> 8}.${other & 255}`), 0);
      if (other % 50 === 0) rejectionOf(limiter, client);
    }
    expect(limiter.size).toBe(100);
    expect(rejectionOf(limiter, client)).not.toBeNull();
  });
});
