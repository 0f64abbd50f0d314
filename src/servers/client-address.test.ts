import { describe, expect, it } from 'vitest';
import { hopsOf, TrustedProxies } from './client-address.ts';

const proxies = new TrustedProxies({ trustedProxies: ['10.0.0.0/8', '2001:db8:f::/48'] });
const from = (remoteAddress: string | undefined, forwarded?: string, origin?: string) =>
  proxies.clientOf({ remoteAddress }, { 'x-forwarded-for': forwarded, origin });

describe('the client address', () => {
  it.each([
    ['it is the peer', '198.51.100.7', undefined, '198.51.100.7'],
    ['it is an IPv4-mapped IPv6 address', '::ffff:198.51.100.7', undefined, '198.51.100.7'],
    ['an untrusted peer sends the header', '198.51.100.7', '203.0.113.1', '198.51.100.7'],
    ['an untrusted peer sends the address of a proxy', '198.51.100.7', '10.0.0.1', '198.51.100.7'],
    ['a proxy forwards it', '10.0.0.1', '203.0.113.1', '203.0.113.1'],
    ['a proxy with an IPv6 address forwards it', '2001:db8:f::1', '203.0.113.1', '203.0.113.1'],
    ['a proxy appends it to a forged header', '10.0.0.1', '127.0.0.1, 10.0.0.2, 203.0.113.1', '203.0.113.1'],
    [
      'several proxies are chained',
      '10.0.0.1',
      '192.0.2.66, 203.0.113.1, 10.9.9.9 ,2001:db8:f::2',
      '203.0.113.1',
    ],
    ['all hops are proxies', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
    ['the proxy sends no header', '10.0.0.1', undefined, '10.0.0.1'],
    ['the proxy sends an invalid address', '10.0.0.1', '203.0.113.1, unknown', '10.0.0.1'],
    ['a second proxy sends an invalid address', '10.0.0.1', '_hidden, 10.0.0.2', '10.0.0.2'],
    ['a list ends with a comma', '10.0.0.1', '203.0.113.1,', '10.0.0.1'],
    ['it has a port', '10.0.0.1', '203.0.113.1:4711', '203.0.113.1'],
    ['it has brackets and a port', '10.0.0.1', '[2001:DB8::1]:4711', '2001:db8::1'],
    ['it is IPv6 without brackets', '10.0.0.1', '2001:db8::1', '2001:db8::1'],
    ['the header is long', '10.0.0.1', `203.0.113.1,${'10.0.0.2,'.repeat(5_000)}10.0.0.2`, '10.0.0.2'],
    ['the connection is closed', undefined, '203.0.113.1', ''],
  ])('is resolved when %s', (_, remote, forwarded, address) => {
    const client = from(remote, forwarded);
    expect([client.address, client.ip?.text ?? '']).toEqual([address, address]);
  });

  it('is marked as a proxy if it is one', () => {
    expect(from('10.0.0.1').isProxy).toBe(true);
    expect(from('10.0.0.1', '203.0.113.1').isProxy).toBe(false);
    expect(from('203.0.113.1').isProxy).toBe(false);
  });

  it('is cached while the headers of a connection stay the same', () => {
    const socket = { remoteAddress: '10.0.0.1' };
    const read = (forwarded: string) => proxies.clientOf(socket, { 'x-forwarded-for': forwarded });
    const first = read('203.0.113.1');
    expect(read('203.0.113.1')).toBe(first);
    expect(read('203.0.113.2').address).toBe('203.0.113.2');
    expect(read('203.0.113.1').address).toBe('203.0.113.1');
  });

  it('comes with a valid Origin header', () => {
    expect(from('203.0.113.1', undefined, 'https://app.example.com').origin).toBe('https://app.example.com');
    expect(from('203.0.113.1').origin).toBeNull();
    expect(from('203.0.113.1', undefined, `https://${'x'.repeat(300)}`).origin).toBeNull();
    const socket = { remoteAddress: '203.0.113.1' };
    expect(proxies.clientOf(socket, { origin: 'https://a.example' }).origin).toBe('https://a.example');
    expect(proxies.clientOf(socket, {}).origin).toBeNull();
  });
});

it('limits the number of hops', () => {
  expect([...hopsOf('1.1.1.1,'.repeat(1_000))]).toHaveLength(32);
});
