import { performServerHandshake, type ServerOptions } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { TimeSlicedQueue } from '../../base/concurrency/time-sliced-queue.ts';
import type { Logger } from '../../base/log.ts';
import { FlushScheduler } from '../../streams/flush-scheduler.ts';
import type { GeyserHandler } from '../../streams/geyser/geyser-handler.ts';
import { ConnectionCaps } from '../connection-caps.ts';
import { setConnectionsMax } from '../connections-max.ts';
import { TlsEntry } from '../tls-entry.ts';
import type { TlsIdentity } from '../tls-identity.ts';
import { AbuseBlocklist } from './abuse-blocklist.ts';
import { Compressors } from './compressed-batches.ts';
import { Connection, type ConnectionContext } from './connection.ts';
import { Connections } from './connections.ts';
import type { HealthFacts } from './health.ts';
import { type GrpcServerOptions, grpcServerOptions } from './options.ts';
import { QueueBudget } from './queue-budget.ts';
import { RequestBudget } from './request-budget.ts';
import { Services } from './services.ts';

/** What a server of gRPC stands between. */
export type GrpcServerParts = Readonly<{ handler: GeyserHandler; health: HealthFacts; log: Logger }>;

/** The only protocol that is spoken over TLS. Source: RFC 9113 §3.2. */
const ALPN = 'h2';

/** gRPC over HTTP/2: `geyser.Geyser`, `shredstream.ShredstreamProxy`, health and reflection. */
export class GrpcServer {
  readonly #options: GrpcServerOptions;
  readonly #log: Logger;
  readonly #server: Server;
  readonly #tls: TlsEntry | null;
  readonly #http2: ServerOptions;
  readonly #connections: Connections;
  readonly #services: Services;
  readonly #blocklist: AbuseBlocklist;
  readonly #caps: ConnectionCaps;
  readonly #context: ConnectionContext;
  /** Every socket, those included that are still shaking hands. */
  readonly #sockets = new Set<Socket>();
  #drained: Promise<boolean> | null = null;

  constructor({ handler, health, log }: GrpcServerParts, options: Partial<GrpcServerOptions> = {}) {
    this.#options = { ...grpcServerOptions, ...options };
    this.#log = log;
    this.#http2 = http2Options(this.#options);
    this.#connections = new Connections(sweepIntervalOf(this.#options));
    this.#blocklist = new AbuseBlocklist(this.#options.abuseBlockMs, this.#options.offendersMax);
    this.#caps = new ConnectionCaps(this.#options, this.#options.proxies);
    this.#services = new Services(handler, (service) => !this.draining && health(service), this.#options);
    const { requestsMaxBytes, queuesMaxBytes, joinMs } = this.#options;
    this.#context = {
      options: this.#options,
      requests: new RequestBudget(requestsMaxBytes),
      readQueue: new TimeSlicedQueue(),
      queues: new QueueBudget(queuesMaxBytes, (bytes) => this.#connections.freeBytes(bytes)),
      flushSchedulers: { joined: new FlushScheduler(joinMs), urgent: new FlushScheduler() },
      compressors: new Compressors(this.#options),
      services: this.#services,
      log,
    };
    this.#tls = this.#options.tls === null ? null : this.#openTls(this.#options.tls);
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
    setConnectionsMax(this.#server, this.#options.connectionsMax);
  }

  /** Streams that are open, but for those that need no key. */
  get streams(): number {
    return this.#services.streams;
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Connections that were closed at once: their address has too many, or was cut for a flood. */
  get connectionsRefused(): number {
    return this.#caps.refused;
  }

  /** Bytes that wait for all clients together, shared ones counted for each. */
  get queuedBytes(): number {
    return this.#context.queues.bytes;
  }

  /** Whether `drain` has begun. */
  get draining(): boolean {
    return this.#drained !== null;
  }

  /** Begins to listen. @returns the address, with the port that was taken. */
  listen(): Promise<AddressInfo> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (fault) => this.#log.error({ err: fault }, 'the listener went wrong'));
        resolve(this.#server.address() as AddressInfo);
      });
    });
  }

  /** Connections from now on get this certificate. @throws Error when it cannot be read, or the server has no TLS. */
  reloadTls(identity: TlsIdentity): void {
    if (this.#tls === null) throw new Error('the server was made without TLS');
    this.#tls.reload(identity);
  }

  /**
   * Stops without dropping anything: health says no from now on; after `noticeMs`, in which load balancers can take
   * notice, nothing new is accepted, connections are told so (GOAWAY), streams end with UNAVAILABLE, and calls under
   * way and what waits for clients have `graceMs` to leave; then what is left is cut.
   * @returns whether nothing had to be cut. Asked again, the same drain.
   */
  drain(
    graceMs: number = this.#options.drainGraceMs,
    noticeMs: number = this.#options.drainNoticeMs,
  ): Promise<boolean> {
    this.#drained ??= this.#drain(graceMs, noticeMs);
    return this.#drained;
  }

  /** Cuts every connection and stops listening. */
  async close(): Promise<void> {
    const closed = this.#stopListening();
    this.#connections.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #drain(graceMs: number, noticeMs: number): Promise<boolean> {
    if (noticeMs > 0) await sleep(noticeMs);
    const closed = this.#stopListening();
    const isClean = await this.#connections.drain(graceMs);
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    return isClean;
  }

  #stopListening(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
  }

  #openTls(identity: TlsIdentity): TlsEntry {
    const { handshakeTimeoutMs } = this.#options;
    const options = { ...identity, minVersion: '1.2', protocol: ALPN, handshakeTimeoutMs } as const;
    return new TlsEntry(options, (socket: TLSSocket) => {
      if (socket.alpnProtocol === ALPN) this.#serve(socket);
      else socket.destroy();
    });
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    // What one of its callers does is not to be held against a proxy: all come from its address.
    if (this.#blocklist.has(address, performance.now()) && !this.#options.proxies.isProxySocket(socket)) {
      this.#caps.refuse(socket);
      return;
    }
    if (!this.#caps.accept(socket)) return;
    this.#sockets.add(socket);
    socket.on('error', ignore);
    socket.once('close', () => this.#sockets.delete(socket));
    if (this.#tls === null) this.#serve(socket);
    else this.#tls.accept(socket);
  }

  #serve(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const session = performServerHandshake(socket, this.#http2);
    this.#connections.add(
      new Connection(session, socket, this.#context, {
        onClose: (connection) => this.#connections.delete(connection),
        onAbuse: () => this.#blocklist.add(address, performance.now()),
      }),
    );
  }
}

const ignore = (): void => {};

/** Megabytes that one connection may take before it may open no more calls: queues of its own are bounded elsewhere. */
const SESSION_MEMORY_MB = 64;

/** A call has about ten headers; each costs more than its bytes. */
const HEADER_PAIRS_MAX = 64;

function http2Options(options: GrpcServerOptions): ServerOptions {
  const base: ServerOptions = {
    maxSessionMemory: SESSION_MEMORY_MB,
    maxHeaderListPairs: HEADER_PAIRS_MAX,
    settings: {
      maxConcurrentStreams: options.streamsPerConnectionMax,
      maxHeaderListSize: options.headerListMaxBytes,
      initialWindowSize: options.windowBytes,
      enablePush: false,
    },
  };
  return {
    ...base,
    streamResetBurst: options.cancelsBurstMax,
    streamResetRate: options.cancelsPerSecondMax,
  };
}

/** Often enough for the shortest time that is looked after. */
function sweepIntervalOf(options: GrpcServerOptions): number {
  const { pingIntervalMs, keepaliveIntervalMs, keepaliveTimeoutMs, endTimeoutMs } = options;
  const { handshakeTimeoutMs, firstCallTimeoutMs, idleTimeoutMs, requestTimeoutMs } = options;
  const times = [pingIntervalMs, keepaliveIntervalMs, keepaliveTimeoutMs, endTimeoutMs];
  times.push(options.keylessStreamMaxMs);
  return Math.min(...times, handshakeTimeoutMs, firstCallTimeoutMs, idleTimeoutMs, requestTimeoutMs) / 4;
}
