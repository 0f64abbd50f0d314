import { noProxies, type TrustedProxies } from '../client-address.ts';
import { type ConnectionCapsOptions, connectionCaps } from '../connection-caps.ts';
import type { TlsIdentity } from '../tls.ts';

/** Responses to compress: none, those to clients that compress requests, or those to all that accept it. */
export type GrpcCompression = 'never' | 'sender' | 'accepted';

export type GrpcServerOptions = ConnectionCapsOptions &
  Readonly<{
    host: string;
    /** 0 picks a free port. */
    port: number;
    tls: TlsIdentity | null;
    proxies: TrustedProxies;

    /** Connections beyond this number are closed at once. */
    connectionsMax: number;
    streamsPerConnectionMax: number;
    /** Maximum open streams with a key; above it, a call gets OVERLOADED. */
    streamsMax: number;
    /** Maximum open streams without a key (health, reflection); above it, a call gets OVERLOADED. */
    keylessStreamsMax: number;
    /** Per connection. */
    keylessStreamsPerConnectionMax: number;
    /** Maximum age of a stream without a key; it then ends with UNAVAILABLE. */
    keylessStreamMaxMs: number;
    /** Maximum unary calls in flight; above it, a call gets OVERLOADED. */
    unaryInFlightMax: number;
    headerListMaxBytes: number;
    messageMaxBytes: number;
    /** Maximum message size of unary calls and of calls without a key. */
    smallMessageMaxBytes: number;
    /** Maximum ratio of decompressed to compressed bytes of a request, above `decompressedFreeBytes`. */
    decompressionRatioMax: number;
    /** Decompressed bytes that a request may have whatever its ratio. */
    decompressedFreeBytes: number;
    /** Maximum request bytes held for all calls; above it, a call gets OVERLOADED. */
    requestsMaxBytes: number;
    /** Per connection. */
    requestsPerConnectionMaxBytes: number;

    /** Maximum messages queued for one client; above it, the client is LAGGING. */
    queueMaxMessages: number;
    /** Maximum bytes queued for one client; above it, the client is LAGGING. */
    queueMaxBytes: number;
    /**
     * Maximum bytes queued for all clients, counting shared bytes per client; above it, the largest queues
     * are LAGGING.
     */
    queuesMaxBytes: number;

    /**
     * How long messages are collected into one write, which is most of the cost of a message. 0: one event
     * loop turn.
     */
    flushDelayMs: number;

    pingIntervalMs: number;
    /** Interval of HTTP/2 pings on a silent connection. */
    keepaliveIntervalMs: number;
    keepaliveTimeoutMs: number;
    /** Time for the TLS handshake, and for the client's SETTINGS frame. */
    handshakeTimeoutMs: number;
    firstCallTimeoutMs: number;
    idleTimeoutMs: number;
    /** Time for a request message to arrive completely. */
    requestTimeoutMs: number;
    endTimeoutMs: number;
    /**
     * Maximum PING and SETTINGS frames per second without other traffic, or tiny DATA frames; above it, the
     * connection closes.
     */
    controlFramesPerSecondMax: number;
    /**
     * Maximum calls that a connection may cancel at once, and per second; above it, the connection closes.
     */
    cancelsBurstMax: number;
    cancelsPerSecondMax: number;
    /** Time for which an address may not reconnect after a flood; 0: it may. */
    abuseBlockMs: number;
    offendersMax: number;

    /** Receive window per call (SETTINGS_INITIAL_WINDOW_SIZE). */
    windowBytes: number;
    compression: GrpcCompression;
    compressionMinBytes: number;
    /** Larger messages are not compressed: compression is synchronous. */
    compressionMaxBytes: number;

    /** Time between reporting unhealthy and closing the listener, for load balancers. */
    drainNoticeMs: number;
    /** Time for calls and queued messages to finish after that. */
    drainGraceMs: number;
  }>;

const MIB = 1024 * 1024;

export const grpcServerOptions: GrpcServerOptions = {
  ...connectionCaps,
  host: '127.0.0.1',
  port: 0,
  tls: null,
  proxies: noProxies,
  connectionsMax: 10_000,
  streamsPerConnectionMax: 100,
  streamsMax: 20_000,
  keylessStreamsMax: 1_000,
  keylessStreamsPerConnectionMax: 8,
  keylessStreamMaxMs: 3_600_000,
  unaryInFlightMax: 5_000,
  headerListMaxBytes: 16 * 1024,
  messageMaxBytes: 4 * MIB,
  smallMessageMaxBytes: 64 * 1024,
  decompressionRatioMax: 16,
  decompressedFreeBytes: 256 * 1024,
  requestsMaxBytes: 256 * MIB,
  requestsPerConnectionMaxBytes: 64 * MIB,
  queueMaxMessages: 250_000,
  queueMaxBytes: 128 * MIB,
  queuesMaxBytes: 1024 * MIB,
  flushDelayMs: 1,
  pingIntervalMs: 10_000,
  keepaliveIntervalMs: 20_000,
  keepaliveTimeoutMs: 20_000,
  handshakeTimeoutMs: 10_000,
  firstCallTimeoutMs: 60_000,
  idleTimeoutMs: 600_000,
  requestTimeoutMs: 30_000,
  endTimeoutMs: 10_000,
  controlFramesPerSecondMax: 1_000,
  cancelsBurstMax: 200,
  cancelsPerSecondMax: 100,
  abuseBlockMs: 3_000,
  offendersMax: 10_000,
  windowBytes: MIB,
  compression: 'sender',
  compressionMinBytes: 1_024,
  compressionMaxBytes: MIB,
  drainNoticeMs: 0,
  drainGraceMs: 10_000,
};
