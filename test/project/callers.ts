import { parseIpAddress } from '../../src/base/ip-address.ts';
import { type KeyRecord, unrestrictedRules } from '../../src/gateway/auth/key-record.ts';
import { type ClientInfo, unknownClient } from '../../src/protocol/client-info.ts';

/** Record fields of a key of the default plan without rules. */
export const internalKey = {
  customerId: 'house',
  planId: 'default',
  rules: unrestrictedRules,
  addressPerSecond: null,
  logsBodies: false,
  monotonicReads: false,
} as const satisfies Partial<KeyRecord>;

/** @param text - IP address in any notation; for other texts the address is unknown. */
export function clientInfoFor(text: string, origin: string | null = null): ClientInfo {
  const ip = parseIpAddress(text);
  return ip === null ? { ...unknownClient, origin } : { address: ip.text, ip, isProxy: false, origin };
}
