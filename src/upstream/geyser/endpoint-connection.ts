import type { Logger } from '../../base/log.ts';
import { readRawUpdate } from '../../protocol/geyser/read-raw-update.ts';
import { encodeSubscribeRequest, type SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { GrpcStatus } from '../../protocol/grpc/status.ts';
import type { Slot } from '../../solana/units.ts';
import { exponentialBackoff, withJitter } from '../exponential-backoff.ts';
import { type GeyserNode, noReplay, PONG_ID, SUBSCRIBE } from './geyser-node.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import type { GrpcStreamLimits } from './grpc-stream.ts';
import { JUMP_MAX_SLOTS } from './max-plausible-slot.ts';
import { type RequestScope, requestScopes } from './merge-filters.ts';
import { MonitoredStream } from './monitored-stream.ts';
import { RequestAcks } from './request-acks.ts';
import type { StreamReader } from './stream-reader.ts';

type UpdateStreamOptions = Readonly<{
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

/** What says how far a slot is. */
const progressKinds: ReadonlySet<string> = new Set(['slot', 'blockMeta', 'blockCounts']);

/** One stream of updates of one server: what it says goes to a teller, its pings are answered, silence ends it. */
export class UpdateStream {
  readonly #options: UpdateStreamOptions;
  readonly #listener: UpdateStreamListener;
  readonly #stream: MonitoredStream<ReturnType<typeof readRawUpdate>>;
  #slot = -1n;

  constructor(options: UpdateStreamOptions, listener: UpdateStreamListener) {
    this.#options = options;
    this.#listener = listener;
    const { node, limits, log } = options;
    const { grpc: url, headers = {}, name } = node;
    // Write versions are comparable only within one stream: a restarted server counts from zero.
    const origin = {};
    this.#stream = new MonitoredStream(
      {
        ...limits,
        url,
        headers,
        method: SUBSCRIBE,
        log,
        logFields: { node: name },
        decode: (bytes) => readRawUpdate(bytes, Date.now(), origin),
      },
      {
        onOpen: () => listener.onOpen(),
        onMessage: (update) => this.#handleUpdate(update),
        onEnd: (status) => listener.onEnd(status),
      },
    );
  }

  send(request: Uint8Array): void {
    this.#stream.send(request);
  }

  ping(id: number): void {
    this.#stream.send(encodeSubscribeRequest({ ping: id }));
  }

  /** Ends the stream without notifying the listener. */
  close(): void {
    this.#stream.close();
  }

  #handleUpdate(update: ReturnType<typeof readRawUpdate>): void {
    if (update === null) return;
    switch (update.kind) {
      case 'ping':
        this.ping(PONG_ID);
        return;
      case 'pong':
        if (update.id > PONG_ID) this.#listener.onPong(update.id);
        return;
      case 'slot':
        // A slot far below the last one is progress too: the last one was implausible.
        if (update.slot > this.#slot || update.slot + JUMP_MAX_SLOTS < this.#slot) {
          this.#slot = update.slot;
          this.#stream.recordProgress();
        }
    }
    this.#options.reader.take(update);
    if (progressKinds.has(update.kind)) this.#listener.onSlot();
  }
}

type EndpointConnectionOptions = Readonly<{
  node: GeyserNode;
  limits: GeyserSourceOptions;
  log: Logger;
  /** All that is wanted now. */
  request: (scope: RequestScope) => SubscribeRequest;
  /** Where a stream that is cut goes on; null where nothing was told yet. */
  resumeAt: () => Slot | null;
  /** A stream begins, with a replay from a slot on or without one; and with blocks that seal their slots, or not. */
  addReader: (from: Slot | null, seals: boolean) => StreamReader;
  removeReader: (reader: StreamReader) => void;
}>;

const keyOf = (request: Buffer | null): string | null => request?.toString('latin1') ?? null;

/** `from`: a replay was asked for. */
type ActiveStream = Readonly<{ stream: UpdateStream; reader: StreamReader; from: Slot | null }>;

/**
 * The stream of one server, which is connected to again for as long as it takes: asks for all that is wanted, asks
 * anew when that changes, and for a replay of what a cut may have lost. A server that refuses what it is asked is
 * asked for something broader, and at last for what it took before.
 */
export class EndpointConnection {
  readonly #options: EndpointConnectionOptions;
  readonly #acks: RequestAcks;
  #active: ActiveStream | null = null;
  #isUp = false;
  #isClosed = false;
  #scope = 0;
  #lastRequest: Buffer | null = null;
  /** Of the ping behind it. */
  #pingId = 0;
  /** A request that the server took: the last of which that is known. */
  #accepted: Buffer | null = null;
  /** It refuses all that is wanted now. */
  #isRejected = false;
  #isReplayRejected = false;
  #failures = 0;
  #requestTimer: NodeJS.Timeout | null = null;
  #reconnectTimer: NodeJS.Timeout | null = null;

  constructor(options: EndpointConnectionOptions) {
    this.#options = options;
    this.#acks = new RequestAcks(options.limits);
    this.#connect();
  }

  get node(): GeyserNode {
    return this.#options.node;
  }

  /** Whether the server has accepted the stream. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** How much it is asked for. */
  get scope(): RequestScope {
    return requestScopes[this.#scope] ?? 'broad';
  }

  /** Something else is wanted. @returns kept when the server has heard of it, or will not in time. */
  updateRequest(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isRejected = false;
    if (this.#active !== null) {
      this.#requestTimer ??= setTimeout(
        () => this.#sendChangedRequest(),
        this.#options.limits.requestDelayMs,
      );
    }
    return this.#acks.wait().catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    this.#clearTimers();
    this.#active?.stream.close();
    if (this.#active !== null) this.#options.removeReader(this.#active.reader);
    this.#active = null;
    this.#acks.giveUp();
  }

  #connect(): void {
    this.#reconnectTimer = null;
    const from = this.#isReplayRejected ? null : this.#options.resumeAt();
    const reader = this.#options.addReader(from, this.scope === 'exact');
    const { node, limits, log } = this.#options;
    const stream = new UpdateStream(
      { node, limits, log, reader },
      {
        onOpen: () => {
          this.#isUp = true;
          this.#acks.markOpen();
        },
        onPong: (id) => {
          // After an older ping the newest request may still be refused.
          if (id === this.#pingId) this.#handleAccepted(reader);
          this.#acks.acknowledge(id);
        },
        onSlot: () => {
          this.#failures = 0;
          this.#isReplayRejected = false;
        },
        onEnd: (status) => this.#handleEnd(status),
      },
    );
    this.#active = { stream, reader, from };
    this.#sendRequest();
  }

  /** The server took the newest request. */
  #handleAccepted(reader: StreamReader): void {
    this.#accepted = this.#lastRequest;
    reader.setRequest(keyOf(this.#lastRequest));
  }

  #sendChangedRequest(): void {
    this.#requestTimer = null;
    this.#sendRequest();
  }

  #sendRequest(): void {
    const request = Buffer.from(encodeSubscribeRequest(this.#options.request(this.scope)));
    const effective = this.#isRejected && this.#accepted !== null ? this.#accepted : request;
    const isFirst = this.#active?.reader.request === '';
    if (isFirst || this.#lastRequest === null || !effective.equals(this.#lastRequest)) {
      this.#active?.reader.setRequest(isFirst ? keyOf(effective) : null);
    }
    this.#lastRequest = effective;
    const fromSlot = this.#pendingReplay();
    const parts = fromSlot === null ? [effective] : [effective, encodeSubscribeRequest({ fromSlot })];
    // A message of protobuf may be written in parts, one behind the other.
    this.#active?.stream.send(Buffer.concat(parts));
    this.#pingId = this.#acks.startRequest();
    this.#active?.stream.ping(this.#pingId);
  }

  /** Servers serve only the newest of the requests that wait: until one has begun to replay, each asks for it. */
  #pendingReplay(): Slot | null {
    if (this.#active === null || this.#active.reader.isReplaying || this.#active.reader.newest !== null)
      return null;
    return this.#active.from;
  }

  #handleEnd(status: GrpcStatus): void {
    const active = this.#active;
    this.#active = null;
    this.#isUp = false;
    this.#acks.reset();
    this.#clearTimers();
    if (active !== null) this.#options.removeReader(active.reader);
    if (this.#isClosed) return;
    if (this.#reduceScope(status, active)) {
      this.#connect();
      return;
    }
    const { reconnectMs, reconnectMaxMs } = this.#options.limits;
    const pause = exponentialBackoff(reconnectMs, reconnectMaxMs, this.#failures++);
    // Not unref'd: a source that looks for its server is alive.
    this.#reconnectTimer = setTimeout(() => this.#connect(), withJitter(pause));
  }

  /** What a server refuses is asked of it in another way, at once. @returns whether there is one. */
  #reduceScope({ code }: GrpcStatus, active: ActiveStream | null): boolean {
    const isReplayRequested = active !== null && active.from !== null && !active.reader.isReplaying;
    // There are servers that replay, but no blocks.
    const last = isReplayRequested ? 1 : requestScopes.length - 1;
    if (code === 'INVALID_ARGUMENT' && this.#scope < last) {
      this.#scope++;
      return true;
    }
    if (isReplayRequested && noReplay.has(code)) {
      this.#isReplayRejected = true;
      this.#scope = 0;
      return true;
    }
    if (code !== 'INVALID_ARGUMENT') {
      this.#scope = 0;
      return false;
    }
    this.#acks.reject();
    const wasRejected = this.#isRejected;
    this.#isRejected = true;
    return !wasRejected && this.#accepted !== null;
  }

  #clearTimers(): void {
    for (const timer of [this.#requestTimer, this.#reconnectTimer]) if (timer !== null) clearTimeout(timer);
    this.#requestTimer = null;
    this.#reconnectTimer = null;
  }
}
