import { beforeEach, describe, expect, it } from 'vitest';
import { createKey, pepperOf } from '../../../test/gateway/keys.ts';
import { Failure } from '../../protocol/errors.ts';
import { generateApiKey } from './api-key.ts';
import { InactiveKeyFailure, KeyAuthenticator } from './key-authenticator.ts';
import { defaultPlanLimits, type KeyRecord, unrestrictedRules } from './key-record.ts';
import { createPlaygroundToken } from './playground-token.ts';

const NOW = Date.UTC(2026, 10, 1);
const peppers = new Map([1, 2].map((version) => [version, pepperOf(version)]));

describe('key authenticator', () => {
  let directory: KeyAuthenticator;
  const apply = (text: string | null, nowMs = NOW): string => {
    try {
      return directory.authenticate(text, nowMs).id;
    } catch (thrown) {
      if (thrown instanceof Failure) return thrown.code;
      throw thrown;
    }
  };
  const admit = (change: Partial<KeyRecord> = {}) => {
    const key = createKey(change);
    directory.apply([key.record]);
    return key;
  };

  beforeEach(() => {
    directory = new KeyAuthenticator({ peppers });
    directory.setStoreReachable(true);
  });

  it('authenticates a key, the first time and again', () => {
    const { text, record } = admit();
    expect([apply(text), apply(text)]).toEqual([record.id, record.id]);
    expect(directory.size).toBe(1);
  });

  it.each([
    ['revoked', { status: 'revoked' }],
    ['expired', { expiresAt: NOW }],
    ['rotated out', { status: 'rotating', expiresAt: NOW - 1 }],
  ] as const)('rejects a %s key like an unknown one', (_what, change) => {
    const { text } = admit(change);
    expect([apply(text), apply(text)]).toEqual(['INVALID_KEY', 'INVALID_KEY']);
  });

  it.each([
    ['revoked', { status: 'revoked' }],
    ['disabled', { status: 'disabled' }],
    ['expired', { expiresAt: NOW }],
  ] as const)('names the %s key of a rejected secret, but not of a forged one', (_what, change) => {
    const { text, record } = admit();
    const inactiveKey = (next: Partial<KeyRecord>): string | null => {
      directory.apply([{ ...record, ...change, ...next }]);
      try {
        return directory.authenticate(text, NOW).id;
      } catch (thrown) {
        return thrown instanceof InactiveKeyFailure ? thrown.key.id : null;
      }
    };
    const otherDigest = pepperOf(9);
    expect([inactiveKey({ version: 2 }), inactiveKey({ version: 3, digest: otherDigest })]).toEqual([
      record.id,
      null,
    ]);
  });

  it('accepts a playground token as its key until the token expires or the key ends', () => {
    const { record } = admit();
    const pepper = peppers.get(record.pepperVersion)!;
    const token = createPlaygroundToken(record.id, NOW + 10, pepper);
    expect([apply(token), apply(token, NOW + 9), apply(token, NOW + 10)]).toEqual([
      record.id,
      record.id,
      'INVALID_KEY',
    ]);
    const forged = [
      createPlaygroundToken(record.id, NOW + 10, pepperOf(7)),
      token.replace(/.{32}$/, (mac) => mac.split('').toReversed().join('')),
      createPlaygroundToken('AbCdEfGh', NOW + 10, pepper),
      token.slice(0, 16) + (NOW + 99_999).toString(36) + token.slice(-32),
    ];
    for (const text of forged) expect(apply(text)).toBe('INVALID_KEY');
    directory.apply([{ ...record, status: 'disabled', version: 2 }]);
    expect(apply(token)).toBe('INVALID_KEY');
  });

  it('accepts a rotating key until it expires', () => {
    const { text, record } = admit({ status: 'rotating', expiresAt: NOW + 10 });
    expect([apply(text, NOW + 9), apply(text, NOW + 10)]).toEqual([record.id, 'INVALID_KEY']);
  });

  it('rejects malformed keys without a lookup', () => {
    const { text } = admit();
    for (const wrong of ['x', `${text}x`, 'k'.repeat(1e6)]) expect(apply(wrong)).toBe('INVALID_KEY');
  });

  it('rejects a key at once after any change that ends it', () => {
    const { text, record } = admit({ expiresAt: NOW + 1 });
    expect([apply(text), apply(text), apply(text, NOW + 1)]).toEqual([record.id, record.id, 'INVALID_KEY']);
    directory.apply([{ ...record, expiresAt: null, status: 'disabled', version: 2 }]);
    expect(apply(text)).toBe('INVALID_KEY');
    directory.apply([{ ...record, expiresAt: null, status: 'active', version: 3 }]);
    expect(apply(text)).toBe(record.id);
    directory.apply([{ ...record, expiresAt: null, digest: Buffer.alloc(32), version: 4 }]);
    expect(apply(text)).toBe('INVALID_KEY');
  });

  it('rejects another secret after a valid use of the key', () => {
    const { text, record } = admit();
    const other = generateApiKey('rpc').text;
    expect(apply(text)).toBe(record.id);
    // First with the checksum, and so the cache slot, of the valid key; then with a correct checksum.
    expect(apply(`${text.slice(0, -10)}${other.slice(-10, -6)}${text.slice(-6)}`)).toBe('INVALID_KEY');
    expect([apply(text.slice(0, 21) + other.slice(21)), apply(text)]).toEqual(['INVALID_KEY', record.id]);
  });

  it('ignores a late lookup after a newer change', () => {
    const { text, record } = admit({ version: 5 });
    const revoked: KeyRecord = { ...record, status: 'revoked', version: 6 };
    expect(directory.apply([revoked])).toEqual([revoked]);
    expect(directory.apply([record, { ...record, version: 6 }])).toEqual([]);
    expect(apply(text)).toBe('INVALID_KEY');
  });

  it('drops a revoked key and rejects it, with or without the store', () => {
    const { text, record } = admit({ version: 5 });
    directory.apply([{ ...record, status: 'revoked', version: 6 }]);
    expect([directory.size, directory.find(record.id)]).toEqual([0, undefined]);
    expect(apply(text)).toBe('INVALID_KEY');
    directory.setStoreReachable(false);
    expect(apply(text)).toBe('INVALID_KEY');
  });

  it('accepts no revoked key after evicting its revocation', () => {
    directory = new KeyAuthenticator({ peppers, revokedMax: 1 });
    const keys = [admit(), admit()];
    directory.apply(keys.map(({ record }) => ({ ...record, status: 'revoked' as const, version: 2 })));
    expect(keys.map(({ text }) => apply(text))).toEqual(['KEYS_UNAVAILABLE', 'INVALID_KEY']);
    directory.setStoreReachable(true);
    expect(keys.map(({ text }) => apply(text))).toEqual(['INVALID_KEY', 'INVALID_KEY']);
  });

  it('replaces expired keys with new ones', () => {
    directory = new KeyAuthenticator({ peppers, keysMax: 2, now: () => NOW });
    directory.setStoreReachable(true);
    const old = admit({ expiresAt: NOW });
    const [first, second] = [admit(), admit({ expiresAt: NOW + 1 })];
    expect([directory.size, directory.dropped]).toEqual([2, 0]);
    expect([apply(first.text), apply(second.text)]).toEqual([first.record.id, second.record.id]);
    expect(apply(old.text)).toBe('INVALID_KEY');
  });

  it('drops keys beyond keysMax, counts them and reports KEYS_UNAVAILABLE', () => {
    directory = new KeyAuthenticator({ peppers, keysMax: 1 });
    directory.setStoreReachable(true);
    const [held, left] = [admit(), admit()];
    expect([directory.size, directory.dropped]).toEqual([1, 1]);
    expect([apply(held.text), apply(left.text)]).toEqual([held.record.id, 'KEYS_UNAVAILABLE']);
    directory.apply([{ ...held.record, status: 'disabled', version: 2 }]);
    expect(apply(held.text)).toBe('INVALID_KEY');
  });

  it('counts a dropped key once, until it is revoked or added', () => {
    directory = new KeyAuthenticator({ peppers, keysMax: 2 });
    directory.setStoreReachable(true);
    const [held, , left, other] = [admit(), admit(), admit(), admit()];
    directory.apply([{ ...left.record, name: 'changed', version: 2 }]);
    expect(directory.dropped).toBe(2);
    expect(apply(generateApiKey('rpc').text)).toBe('INVALID_KEY');
    directory.apply([
      { ...held.record, status: 'revoked', version: 3 },
      { ...other.record, status: 'revoked', version: 3 },
      { ...left.record, version: 3 },
    ]);
    expect([directory.size, directory.dropped]).toEqual([2, 0]);
    expect([apply(left.text), apply(other.text)]).toEqual([left.record.id, 'INVALID_KEY']);
  });

  it('reports no key as invalid after dropping more keys than it can count', () => {
    directory = new KeyAuthenticator({ peppers, keysMax: 1 });
    directory.setStoreReachable(true);
    const [, , last] = [admit(), admit(), admit()];
    expect([directory.dropped, apply(last.text)]).toEqual([1, 'KEYS_UNAVAILABLE']);
  });

  it('accepts known keys while the store is unreachable and reports others as unavailable', () => {
    const { text, record } = admit();
    directory.setStoreReachable(false);
    expect(apply(text)).toBe(record.id);
    expect(apply(generateApiKey('rpc').text)).toBe('KEYS_UNAVAILABLE');
    expect(apply('no key at all')).toBe('INVALID_KEY');
    directory.setStoreReachable(true);
    expect(apply(generateApiKey('rpc').text)).toBe('INVALID_KEY');
  });

  it('verifies keys under each of its peppers only', () => {
    const [first, second, third] = [1, 2, 3].map((pepperVersion) => admit({ pepperVersion }));
    expect(apply(first?.text ?? null)).toBe(first?.record.id);
    expect(apply(second?.text ?? null)).toBe(second?.record.id);
    expect(apply(third?.text ?? null)).toBe('KEYS_UNAVAILABLE');
  });

  it('shares only equal limits and rules between keys', () => {
    const changes = [{}, { prices: {} }, { prices: { getSlot: 2 } }, { rpcPerSecond: 1 }];
    const limits = changes.map((change) => ({ ...defaultPlanLimits, ...change }));
    const heldLimits = limits.map((own) => directory.find(admit({ limits: own }).record.id)?.limits);
    expect(heldLimits).toEqual(limits);
    expect(new Set(heldLimits).size).toBe(3);
    const rules = [['getSlot'], ['getSlot'], ['getBlock']].map((methods) => ({
      ...unrestrictedRules,
      methods,
    }));
    const heldRules = rules.map((own) => directory.find(admit({ rules: own }).record.id)?.rules);
    expect(heldRules).toEqual(rules);
    expect(new Set(heldRules).size).toBe(2);
  });

  it('requires a pepper of 16 bytes', () => {
    expect(() => new KeyAuthenticator({ peppers: new Map() })).toThrow(RangeError);
    const withPepper = (bytes: number) =>
      new KeyAuthenticator({ peppers: new Map([[1, Buffer.alloc(bytes)]]) });
    expect(() => withPepper(15)).toThrow('pepper 1 is too short');
    expect(withPepper(16).size).toBe(0);
  });

  it('throws errors without the key', () => {
    const { text } = createKey();
    directory.setStoreReachable(false);
    for (const credential of [text, `${text}x`]) {
      try {
        directory.authenticate(credential, NOW);
        expect.unreachable();
      } catch (thrown) {
        const failure = thrown as Failure;
        const exposed = JSON.stringify([failure.message, failure.facts, failure.cause, failure.stack]);
        expect(exposed).not.toContain(text.slice(21, 53));
      }
    }
  });
});
