import { noProxies, type TrustedProxies } from '../client-address.ts';
import { type ConnectionCapsOptions, connectionCaps } from '../connection-caps.ts';
import type { TlsIdentity, TlsVersion } from '../tls-identity.ts';

/** How HTTP is spoken over TLS. */
export type HttpTls = TlsIdentity &
  Readonly<{
    minVersion: TlsVersion;
    /** For how long browsers are told to come by TLS only; 0: nothing is said (RFC 6797). */
    strictTransportSeconds: number;
  }>;

/** What bounds the listener. */
export type HttpOptions = ConnectionCapsOptions &
  Readonly<{
    /** Address to listen on. */
    host: string;
    /** 0 takes a free port. */
    port: number;
    /** null: plain text, as it is right behind a proxy that has TLS. */
    tls: HttpTls | null;
    proxies: TrustedProxies;
    headersMaxBytes: number;
    /** Time for the headers of a request to arrive. */
    headersTimeoutMs: number;
    /** Time for a whole request to arrive, its body included, once its head is there. */
    requestTimeoutMs: number;
    /** The same at most for requests of which their reader keeps the time itself: uploads. See own-time.ts. */
    ownTimeMaxMs: number;
    /** Time a connection may be idle between requests. */
    keepAliveTimeoutMs: number;
    /** Time a connection with a request may see no byte in either direction: a client that does not read. */
    idleTimeoutMs: number;
    /** Connections beyond this many are closed at once. */
    connectionsMax: number;
    /** Requests beyond this many at a time get OVERLOADED. */
    requestsInFlightMax: number;
  }>;

/** What holds unless something else is set. */
export const httpOptions: HttpOptions = {
  ...connectionCaps,
  host: '127.0.0.1',
  port: 0,
  tls: null,
  proxies: noProxies,
  headersMaxBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  ownTimeMaxMs: 60 * 60_000,
  keepAliveTimeoutMs: 65_000,
  idleTimeoutMs: 120_000,
  connectionsMax: 10_000,
  requestsInFlightMax: 5_000,
};
