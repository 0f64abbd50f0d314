import type { Socket } from 'node:net';
import { CidrSet, type IpAddress, parseIpAddress } from '../base/ip-address.ts';
import { nowhere } from '../protocol/client-at.ts';
import type { Client } from '../protocol/serve.ts';

/** The headers of a request that say anything of where it came from. */
export type PlaceHeaders = Readonly<{
  'x-forwarded-for'?: string | string[] | undefined;
  origin?: string | string[] | undefined;
}>;

/** Hops that are read, the last ones; more than a few proxies in a row are a loop or a lie. */
const HOPS_MAX = 32;
/** Scheme, name and port. Source: RFC 1035 §2.3.4 for the longest name. */
const ORIGIN_MAX_CHARS = 300;

/** What is known of a connection, as of its last request. */
type Seen = {
  peer: IpAddress | null;
  isProxy: boolean;
  forwarded: string;
  origin: string;
  client: Client;
  /** The proxies that were trusted then. */
  ranges: CidrSet;
};
const seen = Symbol('client');
type Known = Pick<Socket, 'remoteAddress'> & { [seen]?: Seen };

/**
 * The proxies whose word counts, and so the place where each request comes from: that of the connection, unless a
 * trusted proxy holds it. Then `X-Forwarded-For` is read from its right end, where each proxy adds whom it was asked by:
 * the first address that is no trusted proxy is the client's. What stands left of it anybody may have written, and what
 * a stranger sends is not looked at. The header `Forwarded` (RFC 7239) is not read.
 */
export class TrustedProxies {
  readonly #now: () => readonly string[];
  #cidrs: readonly string[];
  #set: CidrSet;

  /** @param cidrs - addresses and ranges of the proxies; a function where they may be others later. */
  constructor(cidrs: readonly string[] | (() => readonly string[]) = []) {
    this.#now = typeof cidrs === 'function' ? cidrs : () => cidrs;
    this.#cidrs = this.#now();
    this.#set = new CidrSet(this.#cidrs);
  }

  /** Those that are trusted now. */
  get #ranges(): CidrSet {
    const cidrs = this.#now();
    if (cidrs !== this.#cidrs) {
      this.#cidrs = cidrs;
      this.#set = new CidrSet(cidrs);
    }
    return this.#set;
  }

  /** Whether a connection is that of a proxy: many callers come over it. */
  holds(socket: Known): boolean {
    return this.#of(socket).isProxy;
  }

  /** Whether an address is that of a proxy. */
  has(address: IpAddress): boolean {
    return this.#ranges.has(address);
  }

  /** Who asks. The same for as long as the connection and what its requests say of it stay the same. */
  clientOf(socket: Known, headers: PlaceHeaders): Client {
    const known = this.#of(socket);
    const forwarded = known.isProxy ? single(headers['x-forwarded-for']) : '';
    const origin = single(headers.origin);
    if (known.forwarded === forwarded && known.origin === origin) return known.client;
    known.forwarded = forwarded;
    known.origin = origin;
    known.client = this.#clientOf(known);
    return known.client;
  }

  #of(socket: Known): Seen {
    const known = socket[seen];
    const ranges = this.#ranges;
    if (known !== undefined && known.ranges === ranges) return known;
    const peer = parseIpAddress(socket.remoteAddress ?? '');
    const isProxy = peer !== null && ranges.has(peer);
    const fresh: Seen = { peer, isProxy, forwarded: '', origin: '', client: nowhere, ranges };
    fresh.client = this.#clientOf(fresh);
    socket[seen] = fresh;
    return fresh;
  }

  #clientOf({ peer, isProxy, forwarded, origin }: Seen): Client {
    const page = origin === '' || origin.length > ORIGIN_MAX_CHARS ? null : origin;
    if (peer === null) return { ...nowhere, origin: page };
    const ip = isProxy ? this.#lastStranger(peer, forwarded) : peer;
    return { address: ip.text, ip, isProxy: isProxy && this.#ranges.has(ip), origin: page };
  }

  /** Walks from hop to hop for as long as those who tell of them are trusted, and what they tell can be read. */
  #lastStranger(peer: IpAddress, forwarded: string): IpAddress {
    let nearest = peer;
    for (const hop of hopsOf(forwarded)) {
      const told = hop === null ? null : parseIpAddress(hop);
      if (told === null) return nearest;
      nearest = told;
      if (!this.#ranges.has(told)) return told;
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
