import { describe, expect, it } from 'vitest';
import { AddressRules, isPublicAddress } from './address-rules.ts';

describe('isPublicAddress', () => {
  it.each([
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.0',
    '169.253.0.1',
    '2606:4700::1111',
    '2003::1',
  ])('accepts %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    ['this network', '0.0.0.0'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['shared by carriers', '100.64.0.1'],
    ['shared by carriers', '100.127.255.255'],
    ['loopback', '127.0.0.1'],
    ['link-local', '169.254.169.254'],
    ['protocol assignment', '192.0.0.170'],
    ['benchmarking', '198.19.0.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['compatible with IPv4', '::8.8.8.8'],
    ['mapped IPv4', '::ffff:10.0.0.1'],
    ['mapped IPv4', '::ffff:7f00:1'],
    ['translated IPv4', '::ffff:0:10.0.0.1'],
    ['NAT64', '64:ff9b::10.0.0.1'],
    ['local NAT64', '64:ff9b:1::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['benchmarking', '2001:2::1'],
    ['ORCHID', '2001:20::1'],
    ['documentation', '2001:db8::1'],
    ['6to4', '2002:7f00:1::1'],
    ['unique local', 'fc00::1'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%lo'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
  ])('rejects %s: %s', (_, address) => expect(isPublicAddress(address)).toBe(false));

  it.each(['', 'localhost', '127.1', '0x7f000001', '[::1]', '1.2.3.4.5', '8.8.8.8 '])(
    'rejects text that is not an IP address: %j',
    (text) => expect(new AddressRules(['0.0.0.0/0', '::/0']).allows(text)).toBe(false),
  );
});

describe('AddressRules', () => {
  it('allow configured networks only', () => {
    const rules = new AddressRules(['10.1.0.0/16', 'fd00:1::/32', '127.0.0.2']);
    for (const address of ['10.1.2.3', 'fd00:1::9', '127.0.0.2', '8.8.8.8'])
      expect(rules.allows(address)).toBe(true);
    for (const address of ['10.2.0.1', 'fd00:2::9', '127.0.0.1', '::1'])
      expect(rules.allows(address)).toBe(false);
  });

  it('allow NAT64 to public addresses only', () => {
    const rules = new AddressRules(['64:ff9b::/96']);
    expect(rules.allows('64:ff9b::8.8.8.8')).toBe(true);
    for (const inner of ['10.0.0.1', '127.0.0.1', '169.254.169.254', '255.255.255.255', '0.0.0.0']) {
      expect(rules.allows(`64:ff9b::${inner}`)).toBe(false);
    }
  });

  it.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0/8', 'fd00::/129', '10.0.0.0/-1', '10.0.0.0/8/8', 'lan', ''])(
    'reject the configuration %j',
    (network) => expect(() => new AddressRules([network])).toThrow('not a network such as'),
  );
});
