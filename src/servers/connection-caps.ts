import type { Server, Socket } from 'node:net';
import { CidrSet, parseIpAddress } from '../base/ip-address.ts';
import type { TrustedProxies } from './client-address.ts';

export const connectionCaps = {
  connectionsPerAddressMax: 1_000,
  /** Exempt ranges, besides trusted proxies. A loopback peer may be a local proxy that is not configured as trusted. */
  connectionsExempt: ['127.0.0.0/8', '::1'] as readonly string[],
};

export type ConnectionCapsOptions = Readonly<typeof connectionCaps>;

/** Limits open connections per client address. Excess connections are reset before any data is read. */
export class ConnectionCaps {
  readonly #max: number;
  readonly #exempt: CidrSet;
  readonly #proxies: TrustedProxies;
  readonly #open = new Map<string, number>();
  rejected = 0;

  constructor(options: ConnectionCapsOptions, proxies: TrustedProxies) {
    this.#max = options.connectionsPerAddressMax;
    this.#exempt = new CidrSet(options.connectionsExempt);
    this.#proxies = proxies;
  }

  get subnets(): number {
    return this.#open.size;
  }

  /** @returns false if the connection exceeded the limit and was reset. */
  accept(socket: Socket): boolean {
    const peer = parseIpAddress(socket.remoteAddress ?? '');
    // A closed socket has no address.
    if (peer === null || this.#exempt.has(peer) || this.#proxies.isProxySocket(socket)) return true;
    const { subnet } = peer;
    const open = this.#open.get(subnet) ?? 0;
    if (open >= this.#max) {
      this.reject(socket);
      return false;
    }
    this.#open.set(subnet, open + 1);
    socket.once('close', () => this.#release(subnet));
    return true;
  }

  /** Also called for reasons other than the limit. */
  reject(socket: Socket): void {
    this.rejected += 1;
    // A reset leaves no state in the operating system.
    socket.resetAndDestroy();
  }

  #release(subnet: string): void {
    const remaining = (this.#open.get(subnet) ?? 0) - 1;
    if (remaining > 0) this.#open.set(subnet, remaining);
    else this.#open.delete(subnet);
  }
}

/** Without `dropMaxConnection`, a cluster might pass excess connections between workers forever. */
export function setConnectionsMax(server: Server, connectionsMax: number): void {
  // `dropMaxConnection` is missing from the type definitions.
  Object.assign(server, { maxConnections: connectionsMax, dropMaxConnection: true });
}
