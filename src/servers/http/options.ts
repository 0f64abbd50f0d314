import { noProxies } from '../client-address.ts';
import { connectionCaps } from '../connection-caps.ts';
import type { TlsIdentity, TlsVersion } from '../tls.ts';

export type HttpTls = TlsIdentity &
  Readonly<{
    minVersion: TlsVersion;
    /** max-age of Strict-Transport-Security (RFC 6797); 0: the header is not sent. */
    strictTransportSeconds: number;
  }>;

export const httpOptions = {
  ...connectionCaps,
  host: '127.0.0.1',
  port: 0,
  tls: null as HttpTls | null,
  proxies: noProxies,
  headersMaxBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  /** Time for the body to arrive after the head. */
  requestTimeoutMs: 30_000,
  /** Timeout for uploads, which are exempt from `requestTimeoutMs`. */
  exemptTimeoutMaxMs: 60 * 60_000,
  keepAliveTimeoutMs: 65_000,
  /** Maximum time without a byte in either direction during a request. */
  idleTimeoutMs: 120_000,
  connectionsMax: 10_000,
  requestsInFlightMax: 5_000,
};

export type HttpOptions = Readonly<typeof httpOptions>;
