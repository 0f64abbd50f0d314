import { BlockList, isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../test/fuzz/engine/mutate.ts';
import { CidrSet, parseCidr, parseIpAddress } from './ip-address.ts';

const address = (text: string) => {
  const parsed = parseIpAddress(text);
  if (parsed === null) throw new Error(`${text} is no address`);
  return parsed;
};

describe('the canonical form of an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['0:0:0:0:0:ffff:c000:201', '192.0.2.1'],
    ['::', '::'],
    ['2001:0DB8:0000:0000:0001:0000:0000:0001', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['1:0:0:0:0:0:0:0', '1::'],
    ['fe80::1%eth0', 'fe80::1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ])('of %s is %s', (text, canonical) => {
    expect(address(text).text).toBe(canonical);
  });

  it.each(['', '192.0.2.256', '01.2.3.4', '1::2::3', '::1/64'])('is null for "%s"', (text) => {
    expect(parseIpAddress(text)).toBeNull();
  });
});

it('treats a /64 of IPv6 or a single IPv4 address as one subnet', () => {
  expect(address('2001:db8:1:2:3:4:5:6').subnet).toBe(address('2001:db8:1:2:ffff::').subnet);
  expect(address('2001:db8:1:2::1').subnet).not.toBe(address('2001:db8:1:3::1').subnet);
  expect(address('::ffff:192.0.2.1').subnet).toBe(address('192.0.2.1').subnet);
  expect(address('192.0.2.1').subnet).not.toBe(address('192.0.2.2').subnet);
});

it.each(['192.0.2.0/33', '2001:db8::/129', '192.0.2.0/24/8'])('rejects the range "%s"', (text) => {
  expect(parseCidr(text)).toBeNull();
  expect(new CidrSet([text]).has(address('192.0.2.1'))).toBe(false);
});

it('ignores address bits beyond the prefix length', () => {
  expect(new CidrSet(['192.0.2.77/24']).has(address('192.0.2.1'))).toBe(true);
});

describe('ranges', () => {
  const random = createRandom(6);
  const chance = (below: number): number => random() % below;
  const someAddress = (): string => {
    // Few distinct values, so that addresses fall into ranges.
    if (chance(2) === 0) return Array.from({ length: 4 }, () => [10, 11, 192, 255, 0][chance(5)]).join('.');
    return Array.from({ length: 8 }, () => ['0', '1', 'ffff', '8000', 'db8'][chance(5)]).join(':');
  };
  const isMapped = (text: string): boolean => isIPv6(text) && !address(text).text.includes(':');

  it('contain the same addresses as a BlockList of node:net', () => {
    let matches = 0;
    for (let round = 0; round < 4_000; round++) {
      const [start, probe] = [someAddress(), someAddress()];
      // BlockList distinguishes IPv4 addresses from their IPv4-mapped form.
      if (isMapped(start) || isMapped(probe)) continue;
      const family = isIPv6(start) ? 'ipv6' : 'ipv4';
      const bits = chance(family === 'ipv4' ? 33 : 129);
      const oracle = new BlockList();
      oracle.addSubnet(start, bits, family);
      const expected = oracle.check(probe, isIPv6(probe) ? 'ipv6' : 'ipv4');
      expect([start, bits, probe, new CidrSet([`${start}/${bits}`]).has(address(probe))]).toEqual([
        start,
        bits,
        probe,
        expected,
      ]);
      if (expected) matches++;
    }
    expect(matches).toBeGreaterThan(200);
  });
});
