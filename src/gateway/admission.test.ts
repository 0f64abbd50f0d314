import { beforeEach, describe, expect, it } from 'vitest';
import { authenticatorOf, createKey } from '../../test/gateway/keys.ts';
import { clientInfoFor } from '../../test/project/callers.ts';
import type { ClientInfo } from '../protocol/client-info.ts';
import { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import { Admission } from './admission.ts';
import { generateApiKey } from './auth/api-key.ts';
import { FailedAuthLimiter, failedAuthOptions } from './auth/failed-auth-limiter.ts';
import type { KeyAuthenticator } from './auth/key-authenticator.ts';
import { defaultPlanLimits, type KeyRecord, type KeyRules, unrestrictedRules } from './auth/key-record.ts';
import { RequestContext } from './metering/call-meter.ts';

const home = clientInfoFor('192.0.2.1', 'https://app.example.com');

describe('admission', () => {
  let keys: KeyAuthenticator;
  let admission: Admission;

  beforeEach(() => {
    keys = authenticatorOf();
    admission = new Admission({
      keys,
      failedAuthLimiter: new FailedAuthLimiter({ ...failedAuthOptions, failedAuthPerMinute: 3 }),
    });
  });

  function keyOf(change: Partial<KeyRecord> = {}): { text: string; record: KeyRecord } {
    const key = createKey(change);
    keys.apply([key.record]);
    return key;
  }

  /** The error of a call: code, facts and text. */
  function resultOf(
    credential: string | null,
    client: ClientInfo = home,
    { product = 'rpc', method = 'getSlot' }: { product?: Product; method?: string } = {},
  ): string {
    const context = new RequestContext(client);
    try {
      admission.authenticate({ credential, client, traceparent: null }, product, 'devnet', context);
      admission.authorize(context, method);
      admission.consumeRate(context);
      return 'let in';
    } catch (thrown) {
      if (thrown instanceof Failure)
        return `${thrown.code} ${JSON.stringify(thrown.facts ?? null)} ${thrown.text}`;
      throw thrown;
    }
  }
  const codeOf = (...args: Parameters<typeof resultOf>): string => resultOf(...args).split(' ')[0] as string;

  it('checks in a fixed order', () => {
    const rules: KeyRules = {
      networks: ['testnet'],
      cidrs: ['198.51.100.1'],
      origins: ['https://b.example'],
      methods: ['getBlock'],
    };
    const limits = { ...defaultPlanLimits, rpcPerSecond: 0.001, rpcBurst: 1 };
    const { text, record } = keyOf({ product: 'grpc', rules, limits });
    let version = 1;
    const codeWith = (part: Partial<KeyRules>, product: Product = 'rpc'): string => {
      keys.apply([{ ...record, product, rules: { ...unrestrictedRules, ...part }, version: ++version }]);
      return codeOf(text);
    };
    expect([codeOf(null), codeOf(text)]).toEqual(['MISSING_KEY', 'UNAUTHORIZED_PRODUCT']);
    const { networks, cidrs, origins, methods } = rules;
    expect(codeWith({ networks, cidrs, origins, methods })).toBe('NETWORK_FORBIDDEN');
    expect(codeWith({ cidrs, origins, methods })).toBe('ADDRESS_FORBIDDEN');
    expect(codeWith({ origins, methods })).toBe('ORIGIN_FORBIDDEN');
    expect(codeWith({ methods })).toBe('METHOD_FORBIDDEN');
    expect([codeWith({}), codeWith({})]).toEqual(['let', 'RATE_LIMITED']);
    expect(codeWith({ methods })).toBe('METHOD_FORBIDDEN');
  });

  it('forbids the test methods of a local ledger unless they are configured', () => {
    const { text } = keyOf();
    for (const method of ['surfnet_setAccount', 'solway_restore']) {
      expect(resultOf(text, home, { method })).toContain(`METHOD_FORBIDDEN {"method":"${method}"}`);
    }
    admission = new Admission({ keys, testMethods: true });
    expect(resultOf(text, home, { method: 'surfnet_setAccount' })).toBe('let in');
  });

  it('blocks an address with too many invalid keys, whatever key it sends', () => {
    const { text } = keyOf();
    const sendUnknownKey = () => codeOf(generateApiKey('rpc').text);
    expect([sendUnknownKey(), sendUnknownKey(), codeOf(text), sendUnknownKey()]).toEqual([
      ...['INVALID_KEY', 'INVALID_KEY', 'let', 'INVALID_KEY'],
    ]);
    expect([codeOf(text), sendUnknownKey(), codeOf(null)]).toEqual(Array(3).fill('TOO_MANY_WRONG_KEYS'));
    expect(codeOf(text, clientInfoFor('192.0.2.2'))).toBe('let');
  });

  it('does not count missing or forbidden keys as failed authentication', () => {
    const { text } = keyOf({ rules: { ...unrestrictedRules, methods: ['getBlock'] } });
    for (let call = 0; call < 5; call++) {
      codeOf(null);
      codeOf(text);
      codeOf(text, home, { product: 'grpc' });
    }
    expect(codeOf(text, home, { method: 'getBlock' })).toBe('let');
  });

  it('refuses a revoked key like an unknown one, whatever its rules', () => {
    const { text, record } = keyOf({ rules: { ...unrestrictedRules, cidrs: ['198.51.100.1'] } });
    expect(codeOf(text)).toBe('ADDRESS_FORBIDDEN');
    keys.apply([{ ...record, status: 'revoked', version: 2 }]);
    expect(resultOf(text)).toBe(resultOf(generateApiKey('rpc').text));
    // A client that still sends it is not guessing, and must not block others.
    for (let call = 0; call < 5; call++) expect(codeOf(text)).toBe('INVALID_KEY');
    expect(codeOf(keyOf().text)).toBe('let');
  });

  it('limits each address separately if the key sets a rate per address', () => {
    const limits = { ...defaultPlanLimits, rpcPerSecond: 0.001, rpcBurst: 6 };
    const { text } = keyOf({ addressPerSecond: 2, limits });
    const from = (address: string) => codeOf(text, clientInfoFor(address));
    // On a slow machine the limit refills during the loop.
    const flood = Array.from({ length: 50 }, () => from('192.0.2.1'));
    expect(flood.slice(0, 2)).toEqual(['let', 'let']);
    expect(flood.filter((code) => code === 'RATE_LIMITED').length).toBeGreaterThan(0);
    expect(from('192.0.2.2')).toBe('let');
  });
});
