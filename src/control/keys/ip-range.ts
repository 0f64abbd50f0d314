import { parseCidr, parseIpAddress } from '../../base/ip-address.ts';

const ALL_BITS = 128;
/** What addresses of IPv4 have in front of them. */
const MAPPED_BITS = 96;

/**
 * An address or a range of addresses in its one form: `192.0.2.0/24`, `2001:db8::/32`, or an address alone. What lies
 * behind the prefix is cleared, and IPv4 inside IPv6 (`::ffff:192.0.2.1`) becomes IPv4.
 * @returns null where the text is neither.
 */
export function normalRange(text: string): string | null {
  const range = parseCidr(text.trim());
  if (range === null) return null;
  const groups = range.words.flatMap((group16) => [
    (group16 >>> 16).toString(16),
    (group16 & 0xffff).toString(16),
  ]);
  const network = parseIpAddress(groups.join(':'))?.text ?? null;
  if (network === null) return null;
  const bits = range.masks.reduce((sum, mask) => sum + Math.clz32(~mask), 0);
  if (bits === ALL_BITS) return network;
  return `${network}/${network.includes('.') ? bits - MAPPED_BITS : bits}`;
}
