import type { Logger } from '../../base/log.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import { type DeshredUpdate, readDeshredUpdate } from '../../protocol/geyser/read-deshred-update.ts';
import { encodeSubscribeDeshredRequest } from '../../protocol/geyser/subscribe-deshred-request.ts';
import type { GrpcStatus } from '../../protocol/grpc/status.ts';
import { decodeEntryMessage } from '../../protocol/shredstream/entries.ts';
import type { Slot } from '../../solana/units.ts';
import type { DeshredListener } from '../../streams/deshred/deshred-event.ts';
import { exponentialBackoff, withJitter } from '../exponential-backoff.ts';
import { redactMessage } from '../feeds/geyser/geyser-connection.ts';
import { GrpcStream } from '../geyser/grpc-stream.ts';
import type { ShredLimits, ShredServer } from './shreds-config.ts';

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
class ReconnectingStream {
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

type DeshredClientOptions = Readonly<{
  server: ShredServer;
  limits: ShredLimits;
  log: Logger;
  listener: Pick<DeshredListener, 'onTransaction' | 'onSlot'>;
}>;

/** The call that streams are opened with. Source: geyser.proto. */
export const SUBSCRIBE_DESHRED = '/geyser.Geyser/SubscribeDeshred';

/** All transactions, and all that is told of slots. */
const REQUEST = encodeSubscribeDeshredRequest({
  deshredTransactions: new Map([['all', {}]]),
  slots: new Map([['all', { interslotUpdates: true }]]),
});
const PING = encodeSubscribeDeshredRequest({ ping: 1 });

/**
 * Listens to another server's `SubscribeDeshred`: single transactions with what it knows of their lookup tables, and
 * slots. There are no batches of entries in it. Source: geyser.proto.
 */
export class DeshredClient {
  readonly #options: DeshredClientOptions;
  readonly #stream: ReconnectingStream;

  constructor(options: DeshredClientOptions) {
    this.#options = options;
    this.#stream = new ReconnectingStream({
      ...options,
      method: SUBSCRIBE_DESHRED,
      request: REQUEST,
      requests: 'many',
      onMessage: (bytes) => this.#handleMessage(bytes),
    });
  }

  start(): void {
    this.#stream.start();
  }

  close(): void {
    this.#stream.close();
  }

  #handleMessage(bytes: Buffer): void {
    const { update, createdAt } = readDeshredUpdate(bytes);
    if (update !== null) this.#emit(update, createdAt ?? BigInt(Date.now()));
  }

  #emit(update: DeshredUpdate, at: bigint): void {
    const { listener } = this.#options;
    switch (update.kind) {
      case 'ping':
        this.#stream.send(PING);
        return;
      case 'slot':
        this.#stream.recordSlot(update.slot);
        listener.onSlot({ ...update, at });
        return;
      case 'transaction':
        this.#stream.recordSlot(update.slot);
        listener.onTransaction({ ...update, at });
    }
  }
}

type EntriesClientOptions = Readonly<{
  server: ShredServer;
  limits: ShredLimits;
  log: Logger;
  listener: Pick<DeshredListener, 'onBatch'>;
}>;

/** The call that streams are opened with. Source: shredstream.proto. */
export const SUBSCRIBE_ENTRIES = '/shredstream.ShredstreamProxy/SubscribeEntries';
/** `SubscribeEntriesRequest` has no fields. */
export const ENTRIES_REQUEST: Uint8Array = new Uint8Array();

/**
 * Listens to a Jito ShredStream proxy: whole batches of entries, without the shreds that carried them. Source:
 * jito-labs/mev-protos, shredstream.proto.
 */
export class EntriesClient {
  readonly #options: EntriesClientOptions;
  readonly #stream: ReconnectingStream;

  constructor(options: EntriesClientOptions) {
    this.#options = options;
    this.#stream = new ReconnectingStream({
      ...options,
      method: SUBSCRIBE_ENTRIES,
      request: ENTRIES_REQUEST,
      requests: 'one',
      onMessage: (bytes) => this.#handleMessage(bytes),
    });
  }

  start(): void {
    this.#stream.start();
  }

  close(): void {
    this.#stream.close();
  }

  #handleMessage(bytes: Buffer): void {
    const { slot, entries } = decodeEntryMessage(bytes);
    this.#stream.recordSlot(slot);
    const at = BigInt(Date.now());
    this.#options.listener.onBatch({ slot, entries, firstShredIndex: 0, endShredIndex: 0, at });
  }
}
