import { noProxies } from '../client-address.ts';
import { connectionCaps } from '../connection-caps.ts';
import type { TlsIdentity } from '../tls.ts';

/** Clients that get compressed responses: none, those that compress requests, or all that accept compression. */
export type GrpcCompression = 'never' | 'sender' | 'accepted';

const MIB = 1024 * 1024;

export const grpcServerOptions = {
  ...connectionCaps,
  host: '127.0.0.1',
  /** 0 picks a free port. */
  port: 0,
  tls: null as TlsIdentity | null,
  proxies: noProxies,

  connectionsMax: 10_000,
  streamsPerConnectionMax: 100,
  /** Maximum number of open streams with a key; further calls get OVERLOADED. */
  streamsMax: 20_000,
  /** Maximum number of open streams without a key (health, reflection). */
  keylessStreamsMax: 1_000,
  keylessStreamsPerConnectionMax: 8,
  /** Maximum age of a stream without a key; older streams end with UNAVAILABLE. */
  keylessStreamMaxMs: 3_600_000,
  unaryInFlightMax: 5_000,
  headerListMaxBytes: 16 * 1024,
  messageMaxBytes: 4 * MIB,
  /** Maximum message size for unary calls and for calls without a key. */
  smallMessageMaxBytes: 64 * 1024,
  /** Maximum ratio of decompressed to compressed bytes of a request larger than `ratioExemptBytes`. */
  decompressionRatioMax: 16,
  /** Decompressed size that a request may have regardless of the ratio. */
  ratioExemptBytes: 256 * 1024,
  /** Maximum request bytes held across all calls; above this, calls get OVERLOADED. */
  requestsMaxBytes: 256 * MIB,
  requestsPerConnectionMaxBytes: 64 * MIB,

  /** Maximum queue size of a call, in messages and in bytes; above this, the call ends with LAGGING. */
  queueMaxMessages: 250_000,
  queueMaxBytes: 128 * MIB,
  /**
   * Maximum bytes queued across all calls; a message shared by several calls is counted for each. Above this, the calls
   * with the largest queues end with LAGGING.
   */
  queuesMaxBytes: 1024 * MIB,

  /** How long to collect messages for one write; writes are the largest cost. 0: one event loop turn. */
  flushDelayMs: 1,

  pingIntervalMs: 10_000,
  /** Interval of HTTP/2 pings on a connection. */
  keepaliveIntervalMs: 20_000,
  keepaliveTimeoutMs: 20_000,
  /** Timeout for the TLS handshake and for the client's SETTINGS frame. */
  handshakeTimeoutMs: 10_000,
  firstCallTimeoutMs: 60_000,
  idleTimeoutMs: 600_000,
  /** Timeout for a request message to arrive completely. */
  requestTimeoutMs: 30_000,
  endTimeoutMs: 10_000,
  /** For tiny DATA frames and, without other traffic, for PING and SETTINGS frames. Excess closes the connection. */
  controlFramesPerSecondMax: 1_000,
  /** Calls that a connection may cancel in a burst and per second; above these limits, the connection closes. */
  cancelsBurstMax: 200,
  cancelsPerSecondMax: 100,
  /** How long an address is blocked after a flood; 0: never. */
  abuseBlockMs: 3_000,
  offendersMax: 10_000,

  /** Receive window per call (SETTINGS_INITIAL_WINDOW_SIZE). */
  windowBytes: MIB,
  compression: 'sender' as GrpcCompression,
  compressionMinBytes: 1_024,
  /** Larger messages are not compressed, because compression is synchronous. */
  compressionMaxBytes: MIB,

  /** Time between reporting unhealthy and closing the listener, so that load balancers can react. */
  drainNoticeMs: 0,
  /** Time for calls and queued messages to finish after the listener closes. */
  drainGraceMs: 10_000,
};

export type GrpcServerOptions = Readonly<typeof grpcServerOptions>;
