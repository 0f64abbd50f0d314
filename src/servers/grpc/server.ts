import { performServerHandshake, type ServerOptions } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { TimeSlicedQueue } from '../../base/concurrency/time-sliced.ts';
import type { Logger } from '../../base/log.ts';
import type { GeyserHandler } from '../../streams/geyser/geyser-handler.ts';
import { FlushScheduler } from '../../streams/outbox.ts';
import { ConnectionCaps, setConnectionsMax } from '../connection-caps.ts';
import { listen, OpenConnections } from '../connection-lifecycle.ts';
import { TlsEntry, type TlsIdentity } from '../tls.ts';
import { AbuseBlocklist } from './abuse-limits.ts';
import { createCompressors } from './batches.ts';
import type { Call } from './call.ts';
import { Connection, type ConnectionContext } from './connection.ts';
import { RequestBudget } from './decode.ts';
import { type GrpcServerOptions, grpcServerOptions } from './options.ts';
import { QueueBudget } from './outbox.ts';
import { Services } from './services.ts';
import type { IsServing } from './standard-services.ts';

export type GrpcServerParts = Readonly<{ handler: GeyserHandler; health: IsServing; log: Logger }>;

/** ALPN protocol. Source: RFC 9113 §3.2. */
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
    const { requestsMaxBytes, queuesMaxBytes, flushDelayMs } = this.#options;
    this.#context = {
      options: this.#options,
      requests: new RequestBudget(requestsMaxBytes),
      readQueue: new TimeSlicedQueue(),
      queues: new QueueBudget(queuesMaxBytes, (bytes) => this.#connections.freeBytes(bytes)),
      flushSchedulers: { joined: new FlushScheduler(flushDelayMs), urgent: new FlushScheduler() },
      compressors: createCompressors(this.#options),
      services: this.#services,
      log,
    };
    this.#tls = this.#options.tls === null ? null : this.#openTls(this.#options.tls);
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
    setConnectionsMax(this.#server, this.#options.connectionsMax);
  }

  get streams(): number {
    return this.#services.streams;
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Connections refused because their address had too many open connections or was blocked. */
  get connectionsRefused(): number {
    return this.#caps.rejected;
  }

  get queuedBytes(): number {
    return this.#context.queues.bytes;
  }

  get draining(): boolean {
    return this.#drained !== null;
  }

  listen(): Promise<AddressInfo> {
    return listen(this.#server, this.#options, this.#log, 'gRPC listener failed');
  }

  /** Applies to new connections. @throws Error if the identity is invalid or the server has no TLS. */
  reloadTls(identity: TlsIdentity): void {
    if (this.#tls === null) throw new Error('Cannot reload the certificate: the gRPC server has no TLS');
    this.#tls.reload(identity);
  }

  /**
   * Reports unhealthy. After `noticeMs`, which gives load balancers time to react, stops listening, sends GOAWAY and
   * ends streams with UNAVAILABLE. Other calls have `graceMs` to finish. @returns whether all of them did.
   */
  drain(graceMs = this.#options.drainGraceMs, noticeMs = this.#options.drainNoticeMs): Promise<boolean> {
    this.#drained ??= this.#drain(graceMs, noticeMs);
    return this.#drained;
  }

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
    // Do not block a proxy because of one of its clients.
    if (this.#blocklist.has(address, performance.now()) && !this.#options.proxies.isProxySocket(socket)) {
      this.#caps.reject(socket);
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

/** In MB; a connection that uses more may not open further calls. Solway limits its own queues separately. */
const SESSION_MEMORY_MB = 64;

/** Headers are also limited in number, because each costs more than its bytes. A call has about ten. */
const HEADER_PAIRS_MAX = 64;

const http2Options = (options: GrpcServerOptions) => ({
  maxSessionMemory: SESSION_MEMORY_MB,
  maxHeaderListPairs: HEADER_PAIRS_MAX,
  streamResetBurst: options.cancelsBurstMax,
  streamResetRate: options.cancelsPerSecondMax,
  settings: {
    maxConcurrentStreams: options.streamsPerConnectionMax,
    maxHeaderListSize: options.headerListMaxBytes,
    initialWindowSize: options.windowBytes,
    enablePush: false,
  },
});

function sweepIntervalOf(options: GrpcServerOptions): number {
  const { pingIntervalMs, keepaliveIntervalMs, keepaliveTimeoutMs, endTimeoutMs } = options;
  const { handshakeTimeoutMs, firstCallTimeoutMs, idleTimeoutMs, requestTimeoutMs } = options;
  const times = [pingIntervalMs, keepaliveIntervalMs, keepaliveTimeoutMs, endTimeoutMs];
  times.push(options.keylessStreamMaxMs);
  return Math.min(...times, handshakeTimeoutMs, firstCallTimeoutMs, idleTimeoutMs, requestTimeoutMs) / 4;
}

const SWEEP_INTERVAL_MS = 1_000;

/** Minimum share of the queued bytes to free when the budget is exceeded. */
const FREED_SHARE = 0.1;

export class Connections extends OpenConnections<Connection> {
  constructor(sweepIntervalMs: number) {
    super(Math.max(1, Math.min(SWEEP_INTERVAL_MS, sweepIntervalMs)));
  }

  /** @returns false if any connection had to be closed after `graceMs`. */
  async drain(graceMs: number): Promise<boolean> {
    for (const connection of this.open) connection.drain();
    if (await this.waitUntilEmpty(graceMs)) return true;
    const all = this.waitUntilEmpty();
    this.destroy();
    await all;
    return false;
  }

  destroy(): void {
    for (const connection of this.open) connection.destroy();
  }

  /** Ends the calls with the largest queues until at least `bytes` bytes are freed. */
  freeBytes(bytes: number): void {
    const lagging: Call[] = [];
    let queued = 0;
    for (const connection of this.open) {
      for (const call of connection.calls) {
        queued += call.outbox.queuedBytes;
        if (call.outbox.queuedBytes > 0) lagging.push(call);
      }
    }
    let remaining = Math.max(bytes, queued * FREED_SHARE);
    for (const call of lagging.sort((a, b) => b.outbox.queuedBytes - a.outbox.queuedBytes)) {
      if (remaining <= 0) return;
      remaining -= call.outbox.queuedBytes;
      call.cut();
    }
  }

  protected sweep(nowMs: number): void {
    for (const connection of this.open) connection.tick(nowMs);
  }
}
