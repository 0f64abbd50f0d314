import type { Logger } from '../../base/log.ts';
import type { Slot } from '../../ledger/units.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import type { GrpcStatus } from '../../protocol/grpc/status.ts';
import { shownWords } from '../feeds/geyser/geyser-link.ts';
import { GrpcStream } from '../feeds/geyser/grpc-stream.ts';
import { doublingPause, spreadPause } from '../retry-pause.ts';
import type { ShredLimits } from './shred-limits.ts';
import type { ShredServer } from './shreds-config.ts';

type KeptStreamOptions = Readonly<{
  server: ShredServer;
  limits: ShredLimits;
  log: Logger;
  /** Such as `/geyser.Geyser/SubscribeDeshred`. */
  method: string;
  /** The message that every stream begins with. */
  request: Uint8Array;
  /** Whether more may follow. */
  requests: 'one' | 'many';
  /**
   * One message of the server.
   * @throws InvalidProtobuf when it is none; it is then passed over.
   */
  take: (bytes: Buffer) => void;
}>;

const LOOKS_PER_STALL = 10;

/**
 * A gRPC stream of a server that tells of the shred stage, opened again and again when it ends or stands still. What
 * was told meanwhile is lost: servers replay nothing. Times are `performance.now()`.
 */
export class KeptStream {
  readonly #options: KeptStreamOptions;
  #stream: GrpcStream | null = null;
  #reconnectTimer: NodeJS.Timeout | null = null;
  #watch: NodeJS.Timeout | null = null;
  #failures = 0;
  #progressAt = 0;
  #slot: Slot | null = null;
  #hasToldUnreadable = false;

  constructor(options: KeptStreamOptions) {
    this.#options = options;
  }

  start(): void {
    this.#watch ??= setInterval(() => this.#look(), this.#options.limits.stallMs / LOOKS_PER_STALL);
    this.#connect();
  }

  /** Sends one more message, where there is a stream. */
  send(message: Uint8Array): void {
    this.#stream?.send(message);
  }

  /** Something was told of a slot: the server is alive as long as it tells of newer and newer ones. */
  reached(slot: Slot): void {
    if (this.#slot !== null && slot <= this.#slot) return;
    this.#slot = slot;
    this.#progressAt = performance.now();
    this.#failures = 0;
  }

  /** Ends it for good. */
  close(): void {
    if (this.#watch !== null) clearInterval(this.#watch);
    if (this.#reconnectTimer !== null) clearTimeout(this.#reconnectTimer);
    this.#stream?.close();
    this.#stream = null;
  }

  #connect(): void {
    const { server, limits, method, request, requests } = this.#options;
    this.#progressAt = performance.now();
    // A server that began anew may be at lower slots.
    this.#slot = null;
    const stream = new GrpcStream(
      { ...limits, url: server.url, headers: server.headers, method },
      {
        opened: () => {},
        message: (bytes) => this.#take(bytes),
        ended: (status) => this.#ended(status),
      },
    );
    this.#stream = stream;
    stream.send(request);
    if (requests === 'one') stream.finishSending();
  }

  /** One message that cannot be read does not end a stream. */
  #take(bytes: Buffer): void {
    try {
      this.#options.take(bytes);
    } catch (error) {
      if (!(error instanceof InvalidProtobuf)) throw error;
      if (this.#hasToldUnreadable) return;
      this.#hasToldUnreadable = true;
      const { log, server } = this.#options;
      log.warn({ server: server.name, reason: error.message }, 'a message of the shred stage cannot be read');
    }
  }

  #look(): void {
    if (this.#stream === null || performance.now() - this.#progressAt < this.#options.limits.stallMs) return;
    this.#stream.close();
    this.#ended({ code: 'UNAVAILABLE', message: 'no new slot for too long' });
  }

  #ended({ code, message }: GrpcStatus): void {
    this.#stream = null;
    const { log, limits, server } = this.#options;
    const reason = shownWords(message, { ...server, grpc: server.url });
    log.warn({ server: server.name, code, reason }, 'a stream of the shred stage ended');
    const pause = doublingPause(limits.reconnectMs, limits.reconnectMaxMs, this.#failures++);
    this.#reconnectTimer = setTimeout(() => this.#connect(), spreadPause(pause));
  }
}
