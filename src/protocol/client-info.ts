import { parseIpAddress } from '../base/ip-address.ts';
import type { ClientInfo } from './request-handler.ts';

/** Client whose connection closed before its address was read. */
export const unknownClient: ClientInfo = { address: '', ip: null, isProxy: false, origin: null };

/** @param text - IP address in any notation; for other texts the result is `unknownClient`. */
export function clientInfoFor(text: string, origin: string | null = null): ClientInfo {
  const ip = parseIpAddress(text);
  return ip === null ? { ...unknownClient, origin } : { address: ip.text, ip, isProxy: false, origin };
}
