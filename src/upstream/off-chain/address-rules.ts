import { BlockList, isIP } from 'node:net';

/** Source: IANA IPv4 Special-Purpose Address Registry; RFC 5771, RFC 1112. */
const SPECIAL_V4: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Global unicast IPv6. Excludes loopback, link-local, ULA, multicast, mapped IPv4 and NAT64. */
const GLOBAL_V6: readonly string[] = ['2000::/3'];

/** Teredo, documentation, 6to4, AS112. Source: IANA IPv6 Special-Purpose Address Registry. */
const SPECIAL_V6: readonly string[] = [
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
];

/** NAT64 addresses of special IPv4 networks are never allowed, even if the NAT64 prefix is. Source: RFC 6052. */
const NAT64_TO_SPECIAL: readonly string[] = SPECIAL_V4.map((network) => {
  const [address, bits] = network.split('/');
  return `64:ff9b::${address}/${96 + Number(bits)}`;
});

const familyOf = (address: string): 'ipv4' | 'ipv6' | null => {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return null;
  return version === 4 ? 'ipv4' : 'ipv6';
};

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits, ...rest] = network.split('/');
    const family = familyOf(address);
    const width = family === 'ipv4' ? 32 : 128;
    const prefix = bits === undefined ? width : Number(bits);
    if (family === null || rest.length > 0 || bits === '' || !(prefix >= 0 && prefix <= width)) {
      throw new RangeError(`not a network such as 10.0.0.0/8 or fd00::/8: ${network}`);
    }
    list.addSubnet(address, prefix, family);
  }
  return list;
}

const specialV4 = listOf(SPECIAL_V4);
const globalV6 = listOf(GLOBAL_V6);
const specialV6 = listOf(SPECIAL_V6);
const nat64ToSpecial = listOf(NAT64_TO_SPECIAL);

export function isPublicAddress(address: string): boolean {
  const family = familyOf(address);
  if (family === null) return false;
  if (family === 'ipv4') return !specialV4.check(address, family);
  return globalV6.check(address, family) && !specialV6.check(address, family);
}

export class AddressRules {
  readonly #allowed: BlockList;

  /** @param allowedNetworks - CIDR networks allowed besides public addresses. @throws RangeError if one is invalid. */
  constructor(allowedNetworks: readonly string[]) {
    this.#allowed = listOf(allowedNetworks);
  }

  allows(address: string): boolean {
    if (isPublicAddress(address)) return true;
    const family = familyOf(address);
    if (family === null || nat64ToSpecial.check(address, family)) return false;
    return this.#allowed.check(address, family);
  }
}
