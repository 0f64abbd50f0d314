import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { authenticatorOf, createKey } from '../../../test/gateway/keys.ts';
import { clientInfoFor } from '../../../test/project/callers.ts';
import type { KeyAuthenticator } from './key-authenticator.ts';
import { type KeyRecord, type KeyRules, unrestrictedRules } from './key-record.ts';
import { KeyWatch } from './key-watch.ts';

const use = { client: clientInfoFor('192.0.2.1'), network: 'devnet' } as const;

describe('key watch', () => {
  let keys: KeyAuthenticator;
  let watch: KeyWatch;
  let record: KeyRecord;
  let ended: string[];
  const end = (who: string) => (failure: { code: string }) => ended.push(`${who} ${failure.code}`);

  beforeEach(() => {
    vi.useFakeTimers();
    record = createKey().record;
    keys = authenticatorOf(record);
    watch = new KeyWatch(keys, { sweepIntervalMs: 500, now: () => Date.now(), rejection: () => null });
    ended = [];
  });

  afterEach(() => {
    watch.close();
    vi.useRealTimers();
  });

  it.each(['revoked', 'disabled'] as const)('ends all watches at once when the key is %s', (state) => {
    watch.watch(record, use, end('a'));
    watch.watch(record, use, end('b'));
    keys.apply([{ ...record, status: state, version: 2 }]);
    expect(ended).toEqual(['a INVALID_KEY', 'b INVALID_KEY']);
    expect([watch.size, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('ends watches that new rules forbid, with the reason, and keeps the others', () => {
    const elsewhere = {
      client: clientInfoFor('198.51.100.1', 'https://app.example.com'),
      network: 'testnet',
    } as const;
    watch.watch(record, use, end('a'));
    watch.watch(record, elsewhere, end('b'));
    const change = (rules: Partial<KeyRules>, version: number) =>
      keys.apply([{ ...record, rules: { ...unrestrictedRules, ...rules }, version }]);
    change({ cidrs: ['192.0.2.0/24', '198.51.100.0/24'], methods: ['getSlot'] }, 2);
    expect(ended).toEqual([]);
    change({ origins: ['https://*.example.com'] }, 3);
    expect(ended).toEqual(['a ORIGIN_FORBIDDEN']);
    change({ networks: ['devnet'] }, 4);
    expect(ended).toEqual(['a ORIGIN_FORBIDDEN', 'b NETWORK_FORBIDDEN']);
    expect([watch.size, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('ends within a sweep of the expiry, not before', () => {
    watch.watch(record, use, end('a'));
    keys.apply([{ ...record, expiresAt: Date.now() + 2_000, version: 2 }]);
    vi.advanceTimersByTime(1_999);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(501);
    expect(ended).toEqual(['a INVALID_KEY']);
  });

  it('ends a watch with the playground token that opened it, and keeps those of the key', () => {
    watch.watch({ ...record, tokenExpiresAt: Date.now() + 2_000 }, use, end('token'));
    watch.watch(record, use, end('key'));
    vi.advanceTimersByTime(1_999);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(501);
    expect([ended, watch.size]).toEqual([['token INVALID_KEY'], 1]);
  });

  it('notifies each active watcher once', () => {
    const stop = watch.watch(record, use, end('a'));
    watch.watch(record, use, end('b'));
    stop();
    stop();
    keys.apply([{ ...record, status: 'revoked', version: 2 }]);
    keys.apply([{ ...record, status: 'revoked', version: 3 }]);
    expect(ended).toEqual(['b INVALID_KEY']);
  });
});
