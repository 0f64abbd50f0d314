import type { Logger } from '../../base/log.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import { readRawUpdate } from '../../protocol/geyser/read-raw-update.ts';
import { encodeSubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { GrpcStatus } from '../../protocol/grpc/status.ts';
import { type GeyserNode, redactMessage, SUBSCRIBE } from '../feeds/geyser/geyser-connection.ts';
import { GrpcStream } from '../feeds/geyser/grpc-stream.ts';
import type { GrpcStreamLimits } from '../feeds/geyser/grpc-stream-limits.ts';
import { JUMP_MAX_SLOTS } from './max-plausible-slot.ts';
import type { StreamReader } from './stream-reader.ts';

export type UpdateStreamOptions = Readonly<{
  node: GeyserNode;
  limits: GrpcStreamLimits;
  log: Logger;
  /** Who speaks for this stream. */
  reader: StreamReader;
}>;

interface UpdateStreamListener {
  /** The server accepted the stream. */
  onOpen(): void;
  /** The server answered a ping of ours. */
  onPong(id: number): void;
  /** It told how far a slot is; its teller has heard it. */
  onSlot(): void;
  /** Nothing more comes. Called once, and not after `close`. */
  onEnd(status: GrpcStatus): void;
}

/** Answers to a server's ping carry it; pings of ours have greater ids. */
const PONG_ID = 1;
const CHECKS_PER_STALL = 10;
/** What says how far a slot is. */
const progressKinds: ReadonlySet<string> = new Set(['slot', 'blockMeta', 'blockCounts']);

/** One stream of updates of one server: what it says goes to a teller, its pings are answered, silence ends it. */
export class UpdateStream {
  readonly #options: UpdateStreamOptions;
  readonly #listener: UpdateStreamListener;
  readonly #stream: GrpcStream;
  readonly #stallTimer: NodeJS.Timeout;
  /** Whose count versions of writes are: a server that starts again begins anew. */
  readonly #origin = {};
  #slot = -1n;
  #progressAt = performance.now();
  #hasWarnedUnreadable = false;

  constructor(options: UpdateStreamOptions, listener: UpdateStreamListener) {
    this.#options = options;
    this.#listener = listener;
    const { node, limits } = options;
    this.#stallTimer = setInterval(() => this.#checkStall(), limits.stallMs / CHECKS_PER_STALL);
    const { grpc: url, headers = {} } = node;
    this.#stream = new GrpcStream(
      { ...limits, url, headers, method: SUBSCRIBE },
      {
        onOpen: () => listener.onOpen(),
        onMessage: (bytes) => this.#handleMessage(bytes),
        onEnd: (status) => this.#handleEnd(status),
      },
    );
  }

  send(request: Uint8Array): void {
    this.#stream.send(request);
  }

  ping(id: number): void {
    this.#stream.send(encodeSubscribeRequest({ ping: id }));
  }

  /** Ends it; the listener hears nothing more. */
  close(): void {
    clearInterval(this.#stallTimer);
    this.#stream.close();
  }

  #handleMessage(bytes: Buffer): void {
    const update = this.#read(bytes);
    if (update === null) return;
    switch (update.kind) {
      case 'ping':
        this.ping(PONG_ID);
        return;
      case 'pong':
        if (update.id > PONG_ID) this.#listener.onPong(update.id);
        return;
      case 'slot':
        // Also when it goes on far behind: then what it said before was a fault of its own.
        if (update.slot > this.#slot || update.slot + JUMP_MAX_SLOTS < this.#slot)
          this.#recordProgress(update.slot);
    }
    this.#options.reader.take(update);
    if (progressKinds.has(update.kind)) this.#listener.onSlot();
  }

  /** One message that cannot be read does not end a stream. */
  #read(bytes: Buffer): ReturnType<typeof readRawUpdate> {
    try {
      return readRawUpdate(bytes, Date.now(), this.#origin);
    } catch (error) {
      if (!(error instanceof InvalidProtobuf)) throw error;
      const { log, node } = this.#options;
      if (!this.#hasWarnedUnreadable) {
        log.warn({ node: node.name, reason: error.message }, 'a Geyser message cannot be read');
      }
      this.#hasWarnedUnreadable = true;
      return null;
    }
  }

  #recordProgress(slot: bigint): void {
    this.#slot = slot;
    this.#progressAt = performance.now();
  }

  #checkStall(): void {
    if (performance.now() - this.#progressAt < this.#options.limits.stallMs) return;
    this.#stream.close();
    this.#handleEnd({ code: 'UNAVAILABLE', message: 'no new slot for too long' });
  }

  #handleEnd(status: GrpcStatus): void {
    clearInterval(this.#stallTimer);
    const { log, node } = this.#options;
    const { code, message } = status;
    log.warn({ node: node.name, code, reason: redactMessage(message, node) }, 'a Geyser stream ended');
    this.#listener.onEnd(status);
  }
}
