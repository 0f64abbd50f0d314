import { parseIpAddress } from '../base/ip-address.ts';
import type { ClientInfo } from './request-handler.ts';

/** Connection that closed before its address was read. */
export const unknownClient: ClientInfo = { address: '', ip: null, isProxy: false, origin: null };

/** @param text - an IP address in any notation, else the result is `unknownClient`. */
export function clientInfoFor(text: string, origin: string | null = null): ClientInfo {
  const ip = parseIpAddress(text);
  return ip === null ? { ...unknownClient, origin } : { address: ip.text, ip, isProxy: false, origin };
}
