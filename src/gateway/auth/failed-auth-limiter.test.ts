import { describe, expect, it } from 'vitest';
import { clientInfoFor } from '../../../test/project/callers.ts';
import { unknownClient } from '../../protocol/client-info.ts';
import type { Failure } from '../../protocol/errors.ts';
import type { ClientInfo } from '../../protocol/request-handler.ts';
import { FailedAuthLimiter, type FailedAuthOptions } from './failed-auth-limiter.ts';

const client = clientInfoFor('192.0.2.1');

function storm(wrongKeys: FailedAuthLimiter, from: ClientInfo, keys: number, nowMs = 0): void {
  for (let key = 0; key < keys; key++) wrongKeys.recordFailure(from, nowMs);
}

function rejectionOf(wrongKeys: FailedAuthLimiter, from: ClientInfo, nowMs = 0): Failure | null {
  try {
    wrongKeys.check(from, nowMs);
    return null;
  } catch (thrown) {
    return thrown as Failure;
  }
}

describe('failed-authentication limiter', () => {
  const open = (options: Partial<FailedAuthOptions> = {}) =>
    new FailedAuthLimiter({ failedAuthPerMinute: 3, blockMs: 10_000, ...options });

  it('blocks an address at the limit per minute, for blockMs', () => {
    const wrongKeys = open();
    storm(wrongKeys, client, 2, 1_000);
    expect(rejectionOf(wrongKeys, client, 1_000)).toBeNull();
    storm(wrongKeys, client, 1, 60_999);
    expect(rejectionOf(wrongKeys, client, 60_999)).toMatchObject({
      code: 'TOO_MANY_WRONG_KEYS',
      retryAfter: 10,
    });
    expect(rejectionOf(wrongKeys, client, 70_998)).toMatchObject({ retryAfter: 1 });
    expect(rejectionOf(wrongKeys, client, 70_999)).toBeNull();
  });

  it('resets after a minute and after a block', () => {
    const wrongKeys = open();
    storm(wrongKeys, client, 2, 0);
    storm(wrongKeys, client, 2, 60_000);
    expect(rejectionOf(wrongKeys, client, 60_000)).toBeNull();
    storm(wrongKeys, client, 1, 60_001);
    storm(wrongKeys, client, 2, 80_000);
    expect(rejectionOf(wrongKeys, client, 80_000)).toBeNull();
    storm(wrongKeys, client, 1, 80_000);
    expect(rejectionOf(wrongKeys, client, 80_000)).not.toBeNull();
  });

  it('counts IPv6 addresses per /64 and IPv4 addresses singly', () => {
    const wrongKeys = open();
    storm(wrongKeys, clientInfoFor('2001:db8:1:2::1'), 3);
    storm(wrongKeys, clientInfoFor('::ffff:192.0.2.9'), 3);
    const refused = ['2001:db8:1:2:ffff::1', '2001:db8:1:3::1', '192.0.2.9', '192.0.2.8'].map(
      (address) => rejectionOf(wrongKeys, clientInfoFor(address)) !== null,
    );
    expect(refused).toEqual([true, false, true, false]);
  });

  it('does not count exempt addresses and proxies', () => {
    const wrongKeys = open({ exempt: ['198.51.100.0/24'] });
    const proxy = { ...client, isProxy: true };
    for (const from of [clientInfoFor('198.51.100.1'), proxy, unknownClient]) {
      storm(wrongKeys, from, 10);
      expect(rejectionOf(wrongKeys, from)).toBeNull();
    }
    expect(wrongKeys.size).toBe(0);
    const usual = new FailedAuthLimiter({ failedAuthPerMinute: 1 });
    for (const from of [clientInfoFor('127.0.0.1'), clientInfoFor('::1')]) storm(usual, from, 1);
    expect(usual.size).toBe(0);
  });

  it('counts at most addressesMax addresses and keeps active ones', () => {
    const wrongKeys = open({ addressesMax: 100 });
    storm(wrongKeys, client, 3);
    for (let other = 0; other < 10_000; other++) {
      wrongKeys.recordFailure(clientInfoFor(`10.0.${other >> 8}.${other & 255}`), 0);
      if (other % 50 === 0) rejectionOf(wrongKeys, client);
    }
    expect(wrongKeys.size).toBe(100);
    expect(rejectionOf(wrongKeys, client)).not.toBeNull();
  });
});
