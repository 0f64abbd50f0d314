import { describe, expect, it } from 'vitest';
import { clientInfoFor } from '../../../test/project/callers.ts';
import { unknownClient } from '../../protocol/client-info.ts';
import type { Failure } from '../../protocol/errors.ts';
import { type KeyRules, unrestrictedRules } from './key-record.ts';
import { checkMethod, checkNetwork, rejectionOf } from './key-rules.ts';

const refused = (
  rules: Partial<KeyRules>,
  client = clientInfoFor('192.0.2.1'),
  network: 'devnet' | null = 'devnet',
) => rejectionOf({ rules: { ...unrestrictedRules, ...rules } }, { client, network })?.code ?? null;

function codeOf(call: () => void): Failure | null {
  try {
    call();
    return null;
  } catch (thrown) {
    return thrown as Failure;
  }
}

it('allows every use of a key without rules', () => {
  expect(refused({}, unknownClient)).toBeNull();
  expect(codeOf(() => checkMethod({ rules: unrestrictedRules }, 'anything'))).toBeNull();
});

it('network rules are checked later if the request names its network later', () => {
  expect(refused({ networks: ['mainnet-beta'] }, clientInfoFor('192.0.2.1'), null)).toBeNull();
  const rules = { ...unrestrictedRules, networks: ['mainnet-beta'] as const };
  expect(codeOf(() => checkNetwork({ rules }, 'mainnet-beta'))).toBeNull();
  expect(codeOf(() => checkNetwork({ rules }, 'devnet'))).toMatchObject({
    code: 'NETWORK_FORBIDDEN',
    text: 'This API key may not be used for the network devnet',
  });
});

describe('address rules', () => {
  const cidrs = ['198.51.100.0/24', '2001:db8::/32', '192.0.2.7'];

  it.each(['198.51.100.255', '::ffff:198.51.100.1', '192.0.2.7'])('allow %s', (address) => {
    expect(refused({ cidrs }, clientInfoFor(address))).toBeNull();
  });

  it.each(['198.51.101.0', '2001:db9::', '192.0.2.8'])('refuse %s', (address) => {
    expect(refused({ cidrs }, clientInfoFor(address))).toBe('ADDRESS_FORBIDDEN');
  });

  it('refuse unknown addresses, and all addresses if no range is valid', () => {
    expect(refused({ cidrs }, unknownClient)).toBe('ADDRESS_FORBIDDEN');
    expect(refused({ cidrs: ['nonsense'] })).toBe('ADDRESS_FORBIDDEN');
  });
});

describe('origin rules', () => {
  const origins = ['https://app.example.com', 'https://*.example.org', 'http://localhost:3000'];
  const at = (origin: string | null) => refused({ origins }, clientInfoFor('192.0.2.1', origin));

  it.each([
    'https://app.example.com',
    'HTTPS://APP.EXAMPLE.COM',
    'https://a.example.org',
    'https://a.b.example.org',
  ])('allow %s', (origin) => {
    expect(at(origin)).toBeNull();
  });

  it.each([
    null,
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.example',
    'https://evil.example/https://app.example.com',
    'https://example.org',
    'https://.example.org',
    'https://evilexample.org',
    'https://evil.example#.example.org',
    'http://a.example.org',
  ])('refuse %s', (origin) => {
    expect(at(origin)).toBe('ORIGIN_FORBIDDEN');
  });
});

describe('method rules', () => {
  const rules = { ...unrestrictedRules, methods: ['getBalance', 'getTokenAccounts*', 'wallet/*'] };
  const code = (method: string) => codeOf(() => checkMethod({ rules }, method))?.code ?? null;

  it.each(['getBalance', 'getTokenAccounts', 'getTokenAccountsByOwner', 'wallet/balance'])(
    'allow %s',
    (method) => {
      expect(code(method)).toBeNull();
    },
  );

  it.each(['getBalances', 'getToken', 'sendTransaction', 'wallets/x'])('refuse %s', (method) => {
    expect(code(method)).toBe('METHOD_FORBIDDEN');
  });

  it('report the refused method, truncated', () => {
    const failure = codeOf(() => checkMethod({ rules }, 'sendTransaction'));
    expect(failure?.text).toBe('This API key may not be used for sendTransaction');
    const long = codeOf(() => checkMethod({ rules }, 'x'.repeat(100_000)));
    expect(long?.text.length).toBeLessThan(120);
  });
});
