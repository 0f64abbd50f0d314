import { describe, expect, it } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { clusterUrl, readCloneOptions } from './clone-options.ts';

describe('the URL of a cluster', () => {
  it.each([
    ['m', 'https://api.mainnet-beta.solana.com'],
    ['mainnet-beta', 'https://api.mainnet-beta.solana.com'],
    ['t', 'https://api.testnet.solana.com'],
    ['testnet', 'https://api.testnet.solana.com'],
    ['d', 'https://api.devnet.solana.com'],
    ['devnet', 'https://api.devnet.solana.com'],
    ['l', 'http://localhost:8899'],
    ['localhost', 'http://localhost:8899'],
    ['https://node.example/key', 'https://node.example/key'],
  ])('%s is %s', (text, url) => {
    expect(clusterUrl(text)).toBe(url);
  });

  it.each(['mainnet', 'ftp://node.example', 'https://', ''])('is not %j', (text) => {
    expect(() => clusterUrl(text)).toThrow('--url: ');
  });
});

describe('clone options', () => {
  const nothing = {
    accounts: [],
    maybeAccounts: [],
    upgradeablePrograms: [],
    lookupTables: [],
    programs: [],
  };
  const log = createLogger('error', () => {});

  it('need a URL', () => {
    const request = { ...nothing, maybeAccounts: ['11111111111111111111111111111111'] };
    expect(() => readCloneOptions(null, request, log)).toThrow('--maybe-clone needs --url');
  });

  it('name the option of a wrong address', () => {
    const request = { ...nothing, upgradeablePrograms: ['x'] };
    expect(() => readCloneOptions('http://h', request, log)).toThrow('--clone-upgradeable-program: "x"');
  });

  it('are absent if nothing is to be cloned', () => {
    expect(readCloneOptions('http://h', nothing, log)).toEqual({});
  });
});
