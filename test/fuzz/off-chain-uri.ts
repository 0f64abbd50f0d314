import { offChainLimits, offChainRules } from '../../src/upstream/off-chain/limits.ts';
import { targetOf } from '../../src/upstream/off-chain/target.ts';

export const from = 'whoever makes a token';
export const covers = ['upstream/off-chain/target.ts'];

export const seeds = [
  'https://a.example:443/x.json?y#z',
  'http://user:pass@[::ffff:10.0.0.1]:80/',
  'ipfs://ipfs/bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4/../7.json',
  'ar://PR0YX8bYbPbxX8rN3ySxFeGBbvyWbGnFYUvnz6eNyYg/0',
  'data:application/json;charset=utf-8;base64,eyJhIjoxfQ==',
  'data:application/json;utf8,%7B%22a%22%3A1%7D',
].map((text) => Buffer.from(text));

const hosts = new Set(
  [...offChainRules.ipfsGateways, ...offChainRules.arweaveGateways].map((gateway) => new URL(gateway).host),
);

/** Whatever a token points at: no exception, and no scheme, port or user that is not allowed. */
export function fuzz(bytes: Uint8Array): boolean {
  const uri = Buffer.from(bytes).toString('utf8');
  const target = targetOf(uri, offChainRules, offChainLimits);
  if (target?.kind !== 'remote') return target !== null;
  for (const { protocol, port, username, password, host } of target.urls) {
    if (!/^https?:$/.test(protocol) || !/^(?:80|443|)$/.test(port)) throw new Error('another scheme or port');
    if (username !== '' || password !== '') throw new Error('a user');
    if (/^\s*(?:ipfs|ar):/i.test(uri) && !hosts.has(host)) throw new Error('not a gateway');
  }
  return true;
}
