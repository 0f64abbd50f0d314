import { isIP } from 'node:net';
import { CidrSet, parseCidr, parseIpAddress } from '../../src/base/ip-address.ts';
import { TrustedProxies } from '../../src/servers/client-address.ts';

export const from = 'clients and proxies';
export const covers = ['base/ip-address.ts', 'servers/client-address.ts'];

const PROXIES = ['10.0.0.0/8', '2001:db8:f::/48'];
const proxies = new TrustedProxies({ trustedProxies: PROXIES });
const ranges = new CidrSet(PROXIES);

export const seeds = [
  '203.0.113.1, 10.0.0.2',
  '[2001:db8::1]:443,10.1.1.1:80',
  '::ffff:10.0.0.1,unknown',
  '2001:db8:f::9, 1.2.3.4',
  'fe80::1%eth0',
  '192.0.2.0/24',
].map((text) => Buffer.from(text));

/** What a header holds is an address or nothing, never a proxy's in place of one that a proxy told of. */
export function fuzz(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1');
  const client = proxies.clientOf({ remoteAddress: '10.0.0.1' }, { 'x-forwarded-for': text });
  if (isIP(client.address) === 0) throw new Error(`${client.address} is no address`);
  if (client.ip?.text !== parseIpAddress(client.address)?.text)
    throw new Error('two addresses in one client');
  const last = text.slice(text.lastIndexOf(',') + 1).trim();
  const reported = parseIpAddress(last);
  // Whom the proxy itself tells of is the client, whatever stands before.
  if (reported !== null && !ranges.has(reported) && client.address !== reported.text) {
    throw new Error(`${client.address} in place of ${reported.text}`);
  }
  const stranger = proxies.clientOf({ remoteAddress: '203.0.113.9' }, { 'x-forwarded-for': text });
  if (stranger.address !== '203.0.113.9') throw new Error('a stranger was believed');
  if (parseCidr(text) !== null && new CidrSet([text]).size !== 1) throw new Error('a range was lost');
  return reported !== null;
}
