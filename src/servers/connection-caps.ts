import type { Socket } from 'node:net';
import { CidrSet, parseIpAddress } from '../base/ip-address.ts';
import type { TrustedProxies } from './client-address.ts';

/** How many connections one client may have open at a door. */
export type ConnectionCapsOptions = Readonly<{
  /** Those of one site: an address of IPv4, 64 bits of IPv6. */
  connectionsPerAddressMax: number;
  /** Addresses and ranges that may have any number. Trusted proxies may too: many callers come over their connections. */
  connectionsExempt: readonly string[];
}>;

/** What holds unless something else is set: who comes from this machine may come through a proxy that nobody named. */
export const connectionCaps: ConnectionCapsOptions = {
  connectionsPerAddressMax: 1_000,
  connectionsExempt: ['127.0.0.0/8', '::1'],
};

/** The connections that each client has open at one door. One too many is closed before anything of it is read. */
export class ConnectionCaps {
  readonly #max: number;
  readonly #exempt: CidrSet;
  readonly #proxies: TrustedProxies;
  readonly #open = new Map<string, number>();
  #refused = 0;

  constructor(
    { connectionsPerAddressMax, connectionsExempt }: ConnectionCapsOptions,
    proxies: TrustedProxies,
  ) {
    this.#max = connectionsPerAddressMax;
    this.#exempt = new CidrSet(connectionsExempt);
    this.#proxies = proxies;
  }

  /** Connections that were refused. */
  get refused(): number {
    return this.#refused;
  }

  /** Sites with a connection that is counted. */
  get sites(): number {
    return this.#open.size;
  }

  /** Counts a connection until it closes. @returns false when it was one too many, and is closed. */
  accept(socket: Socket): boolean {
    const peer = parseIpAddress(socket.remoteAddress ?? '');
    // Without an address it is gone already.
    if (peer === null || this.#exempt.has(peer) || this.#proxies.has(peer)) return true;
    const { site } = peer;
    const open = this.#open.get(site) ?? 0;
    if (open >= this.#max) {
      this.refuse(socket);
      return false;
    }
    this.#open.set(site, open + 1);
    socket.once('close', () => this.#release(site));
    return true;
  }

  /** Closes a connection that is not wanted for another reason, and counts it with the refused. */
  refuse(socket: Socket): void {
    this.#refused += 1;
    // With a reset, so that nothing of it stays in the system.
    socket.resetAndDestroy();
  }

  #release(site: string): void {
    const remaining = (this.#open.get(site) ?? 0) - 1;
    if (remaining > 0) this.#open.set(site, remaining);
    else this.#open.delete(site);
  }
}
