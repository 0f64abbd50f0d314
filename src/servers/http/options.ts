import { noProxies, type TrustedProxies } from '../client-address.ts';
import { type ConnectionCapsOptions, connectionCaps } from '../connection-caps.ts';
import type { TlsIdentity, TlsVersion } from '../tls.ts';

export type HttpTls = TlsIdentity &
  Readonly<{
    minVersion: TlsVersion;
    /** max-age of Strict-Transport-Security; 0 sends none (RFC 6797). */
    strictTransportSeconds: number;
  }>;

export type HttpOptions = ConnectionCapsOptions &
  Readonly<{
    host: string;
    port: number;
    tls: HttpTls | null;
    proxies: TrustedProxies;
    headersMaxBytes: number;
    headersTimeoutMs: number;
    /** Time for the body to arrive after the head. */
    requestTimeoutMs: number;
    /** Upper limit of requestTimeoutMs for requests exempt from it: uploads. */
    exemptTimeoutMaxMs: number;
    keepAliveTimeoutMs: number;
    /** Time without a byte in either direction during a request. */
    idleTimeoutMs: number;
    connectionsMax: number;
    requestsInFlightMax: number;
  }>;

export const httpOptions: HttpOptions = {
  ...connectionCaps,
  host: '127.0.0.1',
  port: 0,
  tls: null,
  proxies: noProxies,
  headersMaxBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  exemptTimeoutMaxMs: 60 * 60_000,
  keepAliveTimeoutMs: 65_000,
  idleTimeoutMs: 120_000,
  connectionsMax: 10_000,
  requestsInFlightMax: 5_000,
};
