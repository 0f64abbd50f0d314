import { describe, expect, it } from 'vitest';
import { hopsOf, TrustedProxies } from './client-address.ts';

const proxies = new TrustedProxies(['10.0.0.0/8', '2001:db8:f::/48']);
const from = (remoteAddress: string | undefined, forwarded?: string, origin?: string) =>
  proxies.clientOf({ remoteAddress }, { 'x-forwarded-for': forwarded, origin });

describe('the address of a client', () => {
  it.each([
    ['the socket tells it', '198.51.100.7', undefined, '198.51.100.7'],
    ['it is IPv4 in IPv6', '::ffff:198.51.100.7', undefined, '198.51.100.7'],
    ['a stranger writes a header', '198.51.100.7', '203.0.113.1', '198.51.100.7'],
    ['a stranger writes the address of a proxy', '198.51.100.7', '10.0.0.1', '198.51.100.7'],
    ['a proxy tells it', '10.0.0.1', '203.0.113.1', '203.0.113.1'],
    ['a proxy tells it, and stands in IPv6', '2001:db8:f::1', '203.0.113.1', '203.0.113.1'],
    [
      'a proxy adds it to what the client had written',
      '10.0.0.1',
      '127.0.0.1, 10.0.0.2, 203.0.113.1',
      '203.0.113.1',
    ],
    ['proxies stand in a row', '10.0.0.1', '192.0.2.66, 203.0.113.1, 10.9.9.9 ,2001:db8:f::2', '203.0.113.1'],
    ['all are proxies', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
    ['the proxy says nothing', '10.0.0.1', undefined, '10.0.0.1'],
    ['the proxy says what is no address', '10.0.0.1', '203.0.113.1, unknown', '10.0.0.1'],
    ['a proxy behind the first says what is no address', '10.0.0.1', '_hidden, 10.0.0.2', '10.0.0.2'],
    ['a list ends with a comma', '10.0.0.1', '203.0.113.1,', '10.0.0.1'],
    ['there is a port', '10.0.0.1', '203.0.113.1:4711', '203.0.113.1'],
    ['there are brackets and a port', '10.0.0.1', '[2001:DB8::1]:4711', '2001:db8::1'],
    ['there is IPv6 without brackets', '10.0.0.1', '2001:db8::1', '2001:db8::1'],
    ['the header is long', '10.0.0.1', `203.0.113.1,${'10.0.0.2,'.repeat(5_000)}10.0.0.2`, '10.0.0.2'],
    ['the connection is gone', undefined, '203.0.113.1', ''],
  ])('when %s', (_, remote, forwarded, address) => {
    const client = from(remote, forwarded);
    expect([client.address, client.ip?.text ?? '']).toEqual([address, address]);
  });

  it('is marked where it is that of a proxy', () => {
    expect(from('10.0.0.1').isProxy).toBe(true);
    expect(from('10.0.0.1', '203.0.113.1').isProxy).toBe(false);
    expect(from('203.0.113.1').isProxy).toBe(false);
  });

  it('is read once for as long as the connection says the same', () => {
    const socket = { remoteAddress: '10.0.0.1' };
    const read = (forwarded: string) => proxies.clientOf(socket, { 'x-forwarded-for': forwarded });
    const first = read('203.0.113.1');
    expect(read('203.0.113.1')).toBe(first);
    expect(read('203.0.113.2').address).toBe('203.0.113.2');
    expect(read('203.0.113.1').address).toBe('203.0.113.1');
  });

  it('comes with the page that the browser names, if it can be one', () => {
    expect(from('203.0.113.1', undefined, 'https://app.example.com').origin).toBe('https://app.example.com');
    expect(from('203.0.113.1').origin).toBeNull();
    expect(from('203.0.113.1', undefined, `https://${'x'.repeat(300)}`).origin).toBeNull();
    const socket = { remoteAddress: '203.0.113.1' };
    expect(proxies.clientOf(socket, { origin: 'https://a.example' }).origin).toBe('https://a.example');
    expect(proxies.clientOf(socket, {}).origin).toBeNull();
  });
});

it('reads no more hops than there can be', () => {
  expect([...hopsOf('1.1.1.1,'.repeat(1_000))]).toHaveLength(32);
});
