import type { Socket } from 'node:net';
import { CidrSet, type IpAddress, parseIpAddress } from '../base/ip-address.ts';
import { unknownClient } from '../protocol/client-info.ts';
import type { ClientInfo } from '../protocol/request-handler.ts';

/** The headers of a request that say anything of where it came from. */
export type AddressHeaders = Readonly<{
  'x-forwarded-for'?: string | string[] | undefined;
  origin?: string | string[] | undefined;
}>;

/** Hops that are read, the last ones; more than a few proxies in a row are a loop or a lie. */
const HOPS_MAX = 32;
/** Scheme, name and port. Source: RFC 1035 §2.3.4 for the longest name. */
const ORIGIN_MAX_CHARS = 300;

/** What is known of a connection, as of its last request. */
type ConnectionClient = {
  peer: IpAddress | null;
  isProxy: boolean;
  forwarded: string;
  origin: string;
  client: ClientInfo;
  /** The proxies that were trusted then. */
  ranges: CidrSet;
};
const connectionClient = Symbol('client');
type TaggedSocket = Pick<Socket, 'remoteAddress'> & { [connectionClient]?: ConnectionClient };

/**
 * The proxies whose word counts, and so the place where each request comes from: that of the connection, unless a
 * trusted proxy holds it. Then `X-Forwarded-For` is read from its right end, where each proxy adds whom it was asked by:
 * the first address that is no trusted proxy is the client's. What stands left of it anybody may have written, and what
 * a stranger sends is not looked at. The header `Forwarded` (RFC 7239) is not read.
 */
export class TrustedProxies {
  readonly #readCidrs: () => readonly string[];
  #cidrs: readonly string[];
  #set: CidrSet;

  /** @param cidrs - addresses and ranges of the proxies; a function where they may be others later. */
  constructor(cidrs: readonly string[] | (() => readonly string[]) = []) {
    this.#readCidrs = typeof cidrs === 'function' ? cidrs : () => cidrs;
    this.#cidrs = this.#readCidrs();
    this.#set = new CidrSet(this.#cidrs);
  }

  /** Those that are trusted now. */
  get #ranges(): CidrSet {
    const cidrs = this.#readCidrs();
    if (cidrs !== this.#cidrs) {
      this.#cidrs = cidrs;
      this.#set = new CidrSet(cidrs);
    }
    return this.#set;
  }

  /** Whether a connection is that of a proxy: many callers come over it. */
  isProxySocket(socket: TaggedSocket): boolean {
    return this.#lookUp(socket).isProxy;
  }

  /** Whether an address is that of a proxy. */
  has(address: IpAddress): boolean {
    return this.#ranges.has(address);
  }

  /** Who asks. The same for as long as the connection and what its requests say of it stay the same. */
  clientOf(socket: TaggedSocket, headers: AddressHeaders): ClientInfo {
    const cached = this.#lookUp(socket);
    const forwarded = cached.isProxy ? single(headers['x-forwarded-for']) : '';
    const origin = single(headers.origin);
    if (cached.forwarded === forwarded && cached.origin === origin) return cached.client;
    cached.forwarded = forwarded;
    cached.origin = origin;
    cached.client = this.#clientOf(cached);
    return cached.client;
  }

  #lookUp(socket: TaggedSocket): ConnectionClient {
    const cached = socket[connectionClient];
    const ranges = this.#ranges;
    if (cached !== undefined && cached.ranges === ranges) return cached;
    const peer = parseIpAddress(socket.remoteAddress ?? '');
    const isProxy = peer !== null && ranges.has(peer);
    const created: ConnectionClient = {
      peer,
      isProxy,
      forwarded: '',
      origin: '',
      client: unknownClient,
      ranges,
    };
    created.client = this.#clientOf(created);
    socket[connectionClient] = created;
    return created;
  }

  #clientOf({ peer, isProxy, forwarded, origin }: ConnectionClient): ClientInfo {
    const page = origin === '' || origin.length > ORIGIN_MAX_CHARS ? null : origin;
    if (peer === null) return { ...unknownClient, origin: page };
    const ip = isProxy ? this.#firstUntrusted(peer, forwarded) : peer;
    return { address: ip.text, ip, isProxy: isProxy && this.#ranges.has(ip), origin: page };
  }

  /** Walks from hop to hop for as long as those who tell of them are trusted, and what they tell can be read. */
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

/** No proxy is trusted. */
export const noProxies = new TrustedProxies();

const single = (value: string | string[] | undefined): string =>
  (Array.isArray(value) ? value.join(',') : value) ?? '';

const WITH_PORT = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+))(?::\d{1,5})?$/;

/**
 * The addresses in a header, those added last first. Some proxies write a port behind them, and brackets around those of
 * IPv6.
 * @returns null for a hop of which nothing can be the address.
 */
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
