import { noProxies, type TrustedProxies } from '../client-address.ts';
import { type ConnectionCapsOptions, connectionCaps } from '../connection-caps.ts';
import type { TlsIdentity } from '../tls-identity.ts';

/** Whose answers are compressed: nobody's, those of clients that send compressed, of all who take it. */
export type GrpcCompression = 'never' | 'sender' | 'accepted';

export type GrpcServerOptions = ConnectionCapsOptions &
  Readonly<{
    /** Address to listen on. */
    host: string;
    /** 0 takes a free port. */
    port: number;
    /** null: HTTP/2 in plain text, with prior knowledge. */
    tls: TlsIdentity | null;
    proxies: TrustedProxies;

    /** Connections beyond this many are closed at once. */
    connectionsMax: number;
    /** Calls that one connection may have open; clients are told (SETTINGS_MAX_CONCURRENT_STREAMS). */
    streamsPerConnectionMax: number;
    /** Streams of all connections that show a key; beyond them a call gets OVERLOADED. */
    streamsMax: number;
    /** Streams that need no key (health, reflection) of all connections; beyond them a call gets OVERLOADED. */
    keylessStreamsMax: number;
    /** The same of one connection. */
    keylessStreamsPerConnectionMax: number;
    /** How long such a stream may be open; it then ends with UNAVAILABLE. */
    keylessStreamMaxMs: number;
    /** Calls with one answer that are under way at a time; beyond them a call gets OVERLOADED. */
    unaryInFlightMax: number;
    /** Bytes of the headers of a call, as HTTP/2 counts them (SETTINGS_MAX_HEADER_LIST_SIZE). */
    headerListMaxBytes: number;
    /** Bytes of one request message, compressed and not. */
    messageMaxBytes: number;
    /** Bytes of one request of a call that has one answer, or needs no key, compressed and not. */
    smallMessageMaxBytes: number;
    /** So many times its size a compressed request may have unpacked … */
    unpackedRatioMax: number;
    /** … and so many bytes in any case. */
    unpackedFreeBytes: number;
    /** Bytes of requests that are held for calls, of all of them together; beyond them a call gets OVERLOADED. */
    requestsMaxBytes: number;
    /** The same of one connection. */
    requestsPerConnectionMaxBytes: number;

    /** Messages that may wait for one client; with another the client lags. */
    queueMaxMessages: number;
    /** Bytes that may wait for one client; with more the client lags. */
    queueMaxBytes: number;
    /** Bytes that may wait for all clients together, shared ones counted for each; beyond them the furthest behind lag. */
    queuesMaxBytes: number;

    /**
     * What comes for a stream this soon after messages were sent leaves together with what still comes: writing is most of
     * what a message costs. 0 sends in every turn of the event loop, as the shred stage always does.
     */
    joinMs: number;

    /** How often streams are told a ping in a message of their own. */
    pingIntervalMs: number;
    /** How often a connection that is silent is pinged in HTTP/2. */
    keepaliveIntervalMs: number;
    /** How long such a ping may stay unanswered. */
    keepaliveTimeoutMs: number;
    /** Time for TLS, and for the client's first words in HTTP/2 (its SETTINGS). */
    handshakeTimeoutMs: number;
    /** Time for the first call of a connection. */
    firstCallTimeoutMs: number;
    /** Time a connection may have no call. */
    idleTimeoutMs: number;
    /** Time for a request message to arrive whole, and for the request of a call with one answer. */
    requestTimeoutMs: number;
    /** Time for a client to take what is left when its call has ended. */
    endTimeoutMs: number;
    /**
     * PING and SETTINGS frames of a connection a second in which it was sent nothing, and tiny pieces of messages a
     * second (DATA frames); beyond either it is closed.
     */
    controlFramesPerSecondMax: number;
    /** Calls that a connection may cancel at once, and in each second in the long run; beyond them it is closed. */
    cancelsBurstMax: number;
    cancelsPerSecondMax: number;
    /** How long an address may not connect after a connection of it was closed for a flood; 0: it may. */
    abuseBlockMs: number;
    /** Such addresses that are remembered. */
    offendersMax: number;

    /** Bytes that a client may send ahead on one call (SETTINGS_INITIAL_WINDOW_SIZE). */
    windowBytes: number;
    compression: GrpcCompression;
    /** Messages below this many bytes are not compressed. */
    compressionLeastBytes: number;
    /** Messages above this many bytes are not compressed: nothing else happens meanwhile. */
    compressionMaxBytes: number;

    /** Before it is closed, for how long a server that drains goes on as if nothing were: load balancers take notice. */
    drainNoticeMs: number;
    /** How long calls under way and what waits for clients have to end when the server drains. */
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
  unpackedRatioMax: 16,
  unpackedFreeBytes: 256 * 1024,
  requestsMaxBytes: 256 * MIB,
  requestsPerConnectionMaxBytes: 64 * MIB,
  queueMaxMessages: 250_000,
  queueMaxBytes: 128 * MIB,
  queuesMaxBytes: 1024 * MIB,
  joinMs: 1,
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
  compressionLeastBytes: 1_024,
  compressionMaxBytes: MIB,
  drainNoticeMs: 0,
  drainGraceMs: 10_000,
};
