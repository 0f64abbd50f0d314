import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressRules } from './address-rules.ts';

/** Finds the IP addresses of a host's name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** An address that must not be connected to. The message names no address: it may be somebody's secret. */
export class RefusedAddress extends Error {
  constructor() {
    super('the host has an address that must not be connected to');
    this.name = 'RefusedAddress';
  }
}

const LOOPBACK = ['127.0.0.1', '::1'] as const;
const isLocalhost = (host: string): boolean => /(?:^|\.)localhost\.?$/i.test(host);

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');

/** The IP addresses that a host says itself, as URLs have it; none where its name is looked up. */
export function literalAddresses(hostname: string): readonly string[] {
  const host = withoutBrackets(hostname);
  if (isLocalhost(host)) return LOOPBACK;
  return isIP(host) === 0 ? [] : [host];
}

/**
 * Asks name servers, both for IPv4 and IPv6. Not getaddrinfo: that would wait for slow name servers in the few threads
 * in which files are read too.
 * @param timeoutMs - of one question; it is put twice.
 */
export function createResolve(timeoutMs: number): Resolve {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  return async (host) => {
    if (isLocalhost(host)) return LOOPBACK;
    const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  };
}

/** Looks a name up once; the connection is made to what was checked here, so a second answer changes nothing. */
function checkedLookup(resolve: Resolve, rules: AddressRules): LookupFunction {
  return (host, { all }, done) => {
    const onAddresses = (addresses: readonly string[]): void => {
      const [first] = addresses;
      const list = addresses.map((address) => ({ address, family: isIP(address) }));
      if (first === undefined) done(new Error('the host has no address'), '', 0);
      else if (!addresses.every((address) => rules.allows(address))) done(new RefusedAddress(), '', 0);
      else if (all === true) done(null, list);
      else done(null, first, isIP(first));
    };
    resolve(host).then(onAddresses, (error: Error) => done(error, '', 0));
  };
}

/** How hosts are found, and which of them may be connected to. */
export type ConnectOptions = Readonly<{
  resolve: Resolve;
  rules: AddressRules;
  connectTimeoutMs: number;
}>;

/** How connections are made: only to addresses that the rules allow, whatever names and URLs say. */
export function checkedConnector(options: ConnectOptions): buildConnector.connector {
  const { resolve, rules, connectTimeoutMs } = options;
  const connect = buildConnector({
    lookup: checkedLookup(resolve, rules),
    timeout: connectTimeoutMs,
    autoSelectFamily: true,
    allowH2: false,
  });
  return (target, done) => {
    const host = withoutBrackets(target.hostname);
    // Addresses are not looked up, so nobody else would look at them.
    if (isIP(host) !== 0 && !rules.allows(host)) {
      done(new RefusedAddress(), null);
      return;
    }
    connect(target, (...[error, socket]) => {
      if (error !== null) {
        done(error, null);
      } else if (isAllowedPeer(socket, rules)) {
        done(null, socket);
      } else {
        socket.destroy();
        done(new RefusedAddress(), null);
      }
    });
  };
}

/** The last look, at where the connection leads indeed. */
const isAllowedPeer = (socket: Socket, rules: AddressRules): boolean =>
  rules.allows(socket.remoteAddress ?? '');
