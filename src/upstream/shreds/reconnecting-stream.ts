import type { Logger } from '../../base/log.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import type { GrpcStatus } from '../../protocol/grpc/status.ts';
import type { Slot } from '../../solana/units.ts';
import { exponentialBackoff, withJitter } from '../exponential-backoff.ts';
import { redactMessage } from '../feeds/geyser/geyser-connection.ts';
import { GrpcStream } from '../feeds/geyser/grpc-stream.ts';
import type { ShredLimits } from './shred-limits.ts';
import type { ShredServer } from './shreds-config.ts';

type ReconnectingStreamOptions = Readonly<{
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
  onMessage: (bytes: Buffer) => void;
}>;

const CHECKS_PER_STALL = 10;

/**
 * A gRPC stream of a server that tells of the shred stage, opened again and again when it ends or stands still. What
 * was told meanwhile is lost: servers replay nothing. Times are `performance.now()`.
 */
export class ReconnectingStream {
  readonly #options: ReconnectingStreamOptions;
  #stream: GrpcStream | null = null;
  #reconnectTimer: NodeJS.Timeout | null = null;
  #stallTimer: NodeJS.Timeout | null = null;
  #failures = 0;
  #progressAt = 0;
  #slot: Slot | null = null;
  #hasWarnedUnreadable = false;

  constructor(options: ReconnectingStreamOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stallTimer ??= setInterval(
      () => this.#checkStall(),
      this.#options.limits.stallMs / CHECKS_PER_STALL,
    );
    this.#connect();
  }

  /** Sends one more message, where there is a stream. */
  send(message: Uint8Array): void {
    this.#stream?.send(message);
  }

  /** Something was told of a slot: the server is alive as long as it tells of newer and newer ones. */
  recordSlot(slot: Slot): void {
    if (this.#slot !== null && slot <= this.#slot) return;
    this.#slot = slot;
    this.#progressAt = performance.now();
    this.#failures = 0;
  }

  /** Ends it for good. */
  close(): void {
    if (this.#stallTimer !== null) clearInterval(this.#stallTimer);
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
        onOpen: () => {},
        onMessage: (bytes) => this.#handleMessage(bytes),
        onEnd: (status) => this.#handleEnd(status),
      },
    );
    this.#stream = stream;
    stream.send(request);
    if (requests === 'one') stream.finishSending();
  }

  /** One message that cannot be read does not end a stream. */
  #handleMessage(bytes: Buffer): void {
    try {
      this.#options.onMessage(bytes);
    } catch (error) {
      if (!(error instanceof InvalidProtobuf)) throw error;
      if (this.#hasWarnedUnreadable) return;
      this.#hasWarnedUnreadable = true;
      const { log, server } = this.#options;
      log.warn({ server: server.name, reason: error.message }, 'a message of the shred stage cannot be read');
    }
  }

  #checkStall(): void {
    if (this.#stream === null || performance.now() - this.#progressAt < this.#options.limits.stallMs) return;
    this.#stream.close();
    this.#handleEnd({ code: 'UNAVAILABLE', message: 'no new slot for too long' });
  }

  #handleEnd({ code, message }: GrpcStatus): void {
    this.#stream = null;
    const { log, limits, server } = this.#options;
    const reason = redactMessage(message, { ...server, grpc: server.url });
    log.warn({ server: server.name, code, reason }, 'a stream of the shred stage ended');
    const pause = exponentialBackoff(limits.reconnectMs, limits.reconnectMaxMs, this.#failures++);
    this.#reconnectTimer = setTimeout(() => this.#connect(), withJitter(pause));
  }
}
