import type { Socket } from 'node:net';
import { CidrSet, type IpAddress, parseIpAddress } from '../base/ip-address.ts';
import { type ClientInfo, unknownClient } from '../protocol/client-info.ts';

export type AddressHeaders = Readonly<{
  'x-forwarded-for'?: string | string[] | undefined;
  origin?: string | string[] | undefined;
}>;

/** Maximum number of hops to read, from the right. Longer chains are loops or forgeries. */
const HOPS_MAX = 32;
/** Enough for scheme, host and port. Source: RFC 1035 §2.3.4 for the longest host name. */
const ORIGIN_MAX_CHARS = 300;

/** Cached on the socket; valid for the headers of the connection's last request. */
type ConnectionClient = {
  peer: IpAddress | null;
  isProxy: boolean;
  forwarded: string;
  origin: string;
  client: ClientInfo;
  ranges: CidrSet;
};
const connectionClient = Symbol('client');
type TaggedSocket = Pick<Socket, 'remoteAddress'> & { [connectionClient]?: ConnectionClient };

/**
 * Determines the client of a request: the peer or, behind a trusted proxy, the rightmost address in `X-Forwarded-For`
 * that is not a trusted proxy. Addresses further left may be forged. `Forwarded` (RFC 7239) is not read.
 */
export class TrustedProxies {
  readonly #options: Readonly<{ trustedProxies: readonly string[] }>;
  #cidrs: readonly string[];
  #ranges: CidrSet;

  /** @param options - read on each use, because the list may change. */
  constructor(options: Readonly<{ trustedProxies: readonly string[] }>) {
    this.#options = options;
    this.#cidrs = options.trustedProxies;
    this.#ranges = new CidrSet(this.#cidrs);
  }

  /** Whether the peer is a trusted proxy, which carries the requests of many clients. */
  isProxySocket(socket: TaggedSocket): boolean {
    return this.#lookUp(socket).isProxy;
  }

  /** Returns the same object while the headers of the connection's requests stay the same. */
  clientOf(socket: TaggedSocket, headers: AddressHeaders): ClientInfo {
    const cached = this.#lookUp(socket);
    const forwarded = cached.isProxy ? textOf(headers['x-forwarded-for']) : '';
    const origin = headers.origin === '' ? '' : textOf(headers.origin);
    if (cached.forwarded === forwarded && cached.origin === origin) return cached.client;
    cached.forwarded = forwarded;
    cached.origin = origin;
    cached.client = this.#clientOf(cached);
    return cached.client;
  }

  #lookUp(socket: TaggedSocket): ConnectionClient {
    const { trustedProxies } = this.#options;
    if (trustedProxies !== this.#cidrs) {
      this.#cidrs = trustedProxies;
      this.#ranges = new CidrSet(trustedProxies);
    }
    const ranges = this.#ranges;
    const cached = socket[connectionClient];
    if (cached !== undefined && cached.ranges === ranges) return cached;
    const peer = parseIpAddress(socket.remoteAddress ?? '');
    const isProxy = peer !== null && ranges.has(peer);
    const connection = { peer, isProxy, forwarded: '', origin: '' };
    const created = { ...connection, client: this.#clientOf(connection), ranges };
    socket[connectionClient] = created;
    return created;
  }

  #clientOf({ peer, isProxy, forwarded, origin }: Omit<ConnectionClient, 'client' | 'ranges'>): ClientInfo {
    const page = origin === '' || origin.length > ORIGIN_MAX_CHARS ? null : origin;
    if (peer === null) return { ...unknownClient, origin: page };
    const ip = isProxy ? this.#firstUntrusted(peer, forwarded) : peer;
    return { address: ip.text, ip, isProxy: isProxy && this.#ranges.has(ip), origin: page };
  }

  /** Reads hops from the right until one is invalid or untrusted. @returns the last valid address. */
  #firstUntrusted(peer: IpAddress, forwarded: string): IpAddress {
    let nearest = peer;
    for (const hop of hopsOf(forwarded)) {
      const address = hop === null ? null : parseIpAddress(hop);
      if (address === null) return nearest;
      nearest = address;
      if (!this.#ranges.has(address)) return address;
    }
    return nearest;
  }
}

export const noProxies = new TrustedProxies({ trustedProxies: [] });

const textOf = (value: string | string[] | undefined): string =>
  (Array.isArray(value) ? value.join(',') : value) ?? '';

const WITH_PORT = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+))(?::\d{1,5})?$/;

/** Yields hops from right to left, without ports or brackets; null for an empty hop. */
export function* hopsOf(forwarded: string): Generator<string | null, void> {
  let end = forwarded.length;
  for (let hops = 0; end > 0 && hops < HOPS_MAX; hops++) {
    const start = forwarded.lastIndexOf(',', end - 1) + 1;
    const hop = forwarded.slice(start, end).trim();
    const [, bracketed, plain] = WITH_PORT.exec(hop) ?? [];
    yield bracketed ?? plain ?? (hop === '' ? null : hop);
    end = start - 1;
  }
}
