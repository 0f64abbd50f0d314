import { noProxies } from '../client-address.ts';
import { connectionCaps } from '../connection-caps.ts';
import type { TlsIdentity } from '../tls.ts';

/** Responses to compress: none, those to clients that compress requests, or those to all that accept it. */
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
  /** Open streams with a key; above it, a call gets OVERLOADED. */
  streamsMax: 20_000,
  /** Open streams without a key: health, reflection. */
  keylessStreamsMax: 1_000,
  keylessStreamsPerConnectionMax: 8,
  /** Maximum age of a stream without a key; it then ends with UNAVAILABLE. */
  keylessStreamMaxMs: 3_600_000,
  unaryInFlightMax: 5_000,
  headerListMaxBytes: 16 * 1024,
  messageMaxBytes: 4 * MIB,
  /** Maximum message of unary calls and of calls without a key. */
  smallMessageMaxBytes: 64 * 1024,
  /** Maximum ratio of decompressed to compressed bytes of a request, above `decompressedFreeBytes`. */
  decompressionRatioMax: 16,
  /** Decompressed bytes that a request may have whatever its ratio. */
  decompressedFreeBytes: 256 * 1024,
  /** Request bytes held for all calls; above it, a call gets OVERLOADED. */
  requestsMaxBytes: 256 * MIB,
  requestsPerConnectionMaxBytes: 64 * MIB,

  /** Queued for one client; above it, the client is LAGGING. */
  queueMaxMessages: 250_000,
  queueMaxBytes: 128 * MIB,
  /** Queued for all clients, counting shared bytes per client; above it, the largest queues are LAGGING. */
  queuesMaxBytes: 1024 * MIB,

  /** How long messages are collected for one write, because writes are most of their cost. 0: one event loop turn. */
  flushDelayMs: 1,

  pingIntervalMs: 10_000,
  /** Interval of HTTP/2 pings on a silent connection. */
  keepaliveIntervalMs: 20_000,
  keepaliveTimeoutMs: 20_000,
  /** Time for the TLS handshake, and for the client's SETTINGS frame. */
  handshakeTimeoutMs: 10_000,
  firstCallTimeoutMs: 60_000,
  idleTimeoutMs: 600_000,
  /** Time for a request message to arrive completely. */
  requestTimeoutMs: 30_000,
  endTimeoutMs: 10_000,
  /** PING and SETTINGS frames without other traffic, or tiny DATA frames. Above it, the connection closes. */
  controlFramesPerSecondMax: 1_000,
  /** Calls that a connection may cancel at once, and per second; above it, the connection closes. */
  cancelsBurstMax: 200,
  cancelsPerSecondMax: 100,
  /** Time for which an address may not reconnect after a flood; 0: it may. */
  abuseBlockMs: 3_000,
  offendersMax: 10_000,

  /** Receive window per call (SETTINGS_INITIAL_WINDOW_SIZE). */
  windowBytes: MIB,
  compression: 'sender' as GrpcCompression,
  compressionMinBytes: 1_024,
  /** Larger messages are not compressed: compression is synchronous. */
  compressionMaxBytes: MIB,

  /** Time between reporting unhealthy and closing the listener, for load balancers. */
  drainNoticeMs: 0,
  /** Time for calls and queued messages to finish after that. */
  drainGraceMs: 10_000,
};

export type GrpcServerOptions = Readonly<typeof grpcServerOptions>;
