import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressRules } from './address-rules.ts';

export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** The message omits the address, which may reveal the internal network. */
export class ForbiddenAddressError extends Error {
  constructor() {
    super('the host resolves to a forbidden address');
    this.name = 'ForbiddenAddressError';
  }
}

const LOOPBACK = ['127.0.0.1', '::1'] as const;
const isLocalhost = (host: string): boolean => /(?:^|\.)localhost\.?$/i.test(host);

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');

/** Addresses known without DNS: a literal IP address, or loopback for localhost; otherwise empty. */
export function literalAddresses(hostname: string): readonly string[] {
  const host = withoutBrackets(hostname);
  if (isLocalhost(host)) return LOOPBACK;
  return isIP(host) === 0 ? [] : [host];
}

/**
 * Resolves A and AAAA records. Failed queries count as empty. Unlike getaddrinfo, does not occupy libuv's thread
 * pool, which file reads use.
 * @param timeoutMs - per attempt; each query is attempted at most twice.
 */
export function createHostResolver(timeoutMs: number): ResolveHost {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  return async (host) => {
    if (isLocalhost(host)) return LOOPBACK;
    const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  };
}

/** Resolves the host once and returns only checked addresses, so DNS rebinding has no effect. */
function checkedLookup(resolve: ResolveHost, rules: AddressRules): LookupFunction {
  return (host, { all }, done) => {
    const onAddresses = (addresses: readonly string[]): void => {
      const [first] = addresses;
      const list = addresses.map((address) => ({ address, family: isIP(address) }));
      if (first === undefined) done(new Error('the host could not be resolved'), '', 0);
      else if (!addresses.every((address) => rules.allows(address))) done(new ForbiddenAddressError(), '', 0);
      else if (all === true) done(null, list);
      else done(null, first, isIP(first));
    };
    resolve(host).then(onAddresses, (error: Error) => done(error, '', 0));
  };
}

export type ConnectOptions = Readonly<{
  resolve: ResolveHost;
  rules: AddressRules;
  connectTimeoutMs: number;
}>;

/** Connects to allowed addresses only, regardless of what host names resolve to. */
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
    // A literal address is not resolved, so it is checked here.
    if (isIP(host) !== 0 && !rules.allows(host)) {
      done(new ForbiddenAddressError(), null);
      return;
    }
    // Takes the arguments as a tuple, so that TypeScript narrows `socket` by `error`.
    connect(target, (...[error, socket]) => {
      if (error !== null) done(error, null);
      // Also checks the address of the actual peer.
      else if (rules.allows(socket.remoteAddress ?? '')) done(null, socket);
      else {
        socket.destroy();
        done(new ForbiddenAddressError(), null);
      }
    });
  };
}
