import { parseIpAddress } from '../base/ip-address.ts';
import type { ClientInfo } from './request-handler.ts';

/** Nobody knows where: a connection that was closed before anybody asked. */
export const unknownClient: ClientInfo = { address: '', ip: null, isProxy: false, origin: null };

/** Whoever is at an address, in any of its forms; `nowhere` for what is none. */
export function clientInfoFor(text: string, origin: string | null = null): ClientInfo {
  const ip = parseIpAddress(text);
  return ip === null ? { ...unknownClient, origin } : { address: ip.text, ip, isProxy: false, origin };
}
