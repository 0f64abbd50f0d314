import { parseIpAddress } from '../base/ip-address.ts';
import type { Client } from './serve.ts';

/** Nobody knows where: a connection that was closed before anybody asked. */
export const nowhere: Client = { address: '', ip: null, isProxy: false, origin: null };

/** Whoever is at an address, in any of its forms; `nowhere` for what is none. */
export function clientAt(text: string, origin: string | null = null): Client {
  const ip = parseIpAddress(text);
  return ip === null ? { ...nowhere, origin } : { address: ip.text, ip, isProxy: false, origin };
}
