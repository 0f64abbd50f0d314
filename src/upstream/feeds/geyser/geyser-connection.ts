import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../../base/log.ts';
import { encodeSubscribeRequest } from '../../../protocol/geyser/subscribe-request.ts';
import {
  decodeSubscribeUpdate,
  type SubscribeUpdate,
  type Update,
} from '../../../protocol/geyser/subscribe-update.ts';
import type { GrpcStatus } from '../../../protocol/grpc/status.ts';
import type { Slot } from '../../../solana/units.ts';
import { exponentialBackoff, withJitter } from '../../exponential-backoff.ts';
import { type GeyserNode, noReplay, PONG_ID, SUBSCRIBE } from '../../geyser/geyser-node.ts';
import { MonitoredStream } from '../../geyser/monitored-stream.ts';
import { RequestAcks } from '../../geyser/request-acks.ts';

/** Limits of the Geyser feed. Times in milliseconds, sizes in bytes. */
export const geyserLimits = {
  connectTimeoutMs: 3_000,
  pingIntervalMs: 10_000,
  pongTimeoutMs: 5_000,
  messageMaxBytes: 128 * 1024 * 1024,
  windowBytes: 8 * 1024 * 1024,
  /** How long request changes are batched: servers reject frequent requests. */
  requestDelayMs: 20,
  /** Longest delay for large requests: each repeats all filters. */
  requestDelayMaxMs: 100,
  /** A request counts as accepted after this long without an answer. */
  ackTimeoutMs: 2_000,
  /** How long `open` waits for a stream before falling back to PubSub. */
  openTimeoutMs: 3_000,
  /** Filters per request; beyond it, subscriptions are rejected. */
  filtersMax: 100,
  /**
   * Addresses per request, about 46 bytes each: servers accept 4 MiB. Beyond it, subscriptions are rejected.
   */
  addressesMax: 20_000,
  /** Distinct filters per program; beyond it, the whole program is requested. */
  programFiltersMax: 8,
  stallMs: 5_000,
  reconnectMs: 250,
  reconnectMaxMs: 10_000,
  /** Consecutive failures before trying the next server. */
  failuresMax: 2,
  /** How long all servers may be down before subscriptions fail. */
  downMaxMs: 15_000,
  /** Probe interval while all servers are down; until then, subscriptions are rejected at once. */
  awayMs: 10_000,
  /** Longest replay after a disconnect. Servers keep about 150 slots. */
  replaySlotsMax: 120,
  /** Remembered slots, for deduplication. */
  seenSlotsMax: 512,
  /** Updates queued during a fetch before the stream is paused. */
  heldMax: 10_000,
  mintsMax: 10_000,
  /** Lifetime of a Token-2022 mint, whose scale may change. */
  mintMaxAgeMs: 60_000,
  /** Total wait for mints per `mintRetryMs`; beyond it, accounts are encoded in base64. */
  mintWaitMs: 500,
  /** Pause after a failed mint fetch; also its timeout. */
  mintRetryMs: 5_000,
  mintFetchesMax: 16,
};

export type GeyserLimits = Readonly<typeof geyserLimits>;

type GeyserConnectionOptions = Readonly<{
  /** At least one. */
  nodes: readonly GeyserNode[];
  limits: GeyserLimits;
  log: Logger;
  /** Encodes the current `SubscribeRequest`. */
  request: (fromSlot: Slot | null) => Uint8Array;
  /** First slot of a stream that replaces a broken one; null before the first update. */
  resumeAt: () => Slot | null;
}>;

interface GeyserConnectionListener {
  /** @param at - Unix milliseconds, from the server. */
  onUpdate(update: Update, at: bigint, node: string): void;
  /** A stream replaces another: updates may repeat, or be missing before it. */
  onResumed(): void;
  /** A server rejected the request, without a waiter to fail. */
  onRejected(): void;
  /** All servers were down for too long. The connection is stopped. */
  onDown(): void;
}

/** Request bytes per millisecond of delay. */
const REQUEST_BYTES_PER_MS = 4_096;

/**
 * The Geyser stream of a feed: sends the merged request and its changes, answers pings, and reconnects or
 * fails over. Times are `performance.now()`.
 */
export class GeyserConnection {
  readonly #options: GeyserConnectionOptions;
  readonly #listener: GeyserConnectionListener;
  readonly #acks: RequestAcks;
  #nodes: readonly GeyserNode[];
  #at = 0;
  #stream: MonitoredStream<SubscribeUpdate | null> | null = null;
  #requestTimer: NodeJS.Timeout | null = null;
  #requestBytes = 0;
  #reconnectTimer: NodeJS.Timeout | null = null;
  #isStarted = false;
  #failures = 0;
  #downSince: number | null = null;
  /** A replay was requested and no slot received yet. */
  #isReplayRequested = false;
  #isReplayRejected = false;
  #isPaused = false;

  constructor(options: GeyserConnectionOptions, listener: GeyserConnectionListener) {
    this.#options = options;
    this.#nodes = options.nodes;
    this.#listener = listener;
    this.#acks = new RequestAcks(options.limits);
  }

  /**
   * Schedules the changed request.
   * @returns resolves when a server acknowledged it.
   * @throws AckTimeout; RequestRejected.
   */
  updateRequest(): Promise<void> {
    const acknowledged = this.#acks.wait();
    if (!this.#isStarted) this.#start();
    else if (this.#stream !== null) {
      this.#requestTimer ??= setTimeout(() => this.#sendRequest(null), this.#requestDelay());
    }
    return acknowledged;
  }

  /** Ends the stream; `updateRequest` restarts it. */
  stop(): void {
    for (const timer of [this.#requestTimer, this.#reconnectTimer]) if (timer !== null) clearTimeout(timer);
    this.#requestTimer = null;
    this.#reconnectTimer = null;
    this.#isStarted = false;
    this.#stream?.close();
    this.#stream = null;
    this.#downSince = null;
    this.#acks.giveUp();
  }

  /** Replaces the servers; at least one. The stream moves if its server was removed. */
  setNodes(nodes: readonly GeyserNode[]): void {
    const before = this.#node;
    this.#nodes = nodes;
    const at = nodes.findIndex((node) => isDeepStrictEqual(node, before));
    this.#at = Math.max(0, at);
    if (at !== -1 || !this.#isStarted) return;
    if (this.#reconnectTimer !== null) clearTimeout(this.#reconnectTimer);
    this.#stream?.close();
    this.#stream = null;
    this.#acks.reset();
    this.#connect();
  }

  setPaused(paused: boolean): void {
    if (this.#isPaused === paused) return;
    this.#isPaused = paused;
    this.#stream?.setPaused(paused);
  }

  #start(): void {
    this.#isStarted = true;
    this.#downSince = performance.now();
    this.#connect();
  }

  get #node(): GeyserNode {
    return this.#nodes[this.#at % this.#nodes.length]!;
  }

  #connect(): void {
    this.#reconnectTimer = null;
    const node = this.#node;
    const { grpc: url, headers = {}, name } = node;
    const { limits, log } = this.#options;
    const stream = new MonitoredStream(
      {
        ...limits,
        url,
        headers,
        method: SUBSCRIBE,
        log,
        logFields: { node: name },
        decode: decodeSubscribeUpdate,
      },
      {
        onOpen: () => this.#acks.markOpen(),
        onMessage: (message) => this.#handleMessage(message, name),
        onEnd: (status) => this.#handleEnd(status),
      },
    );
    this.#stream = stream;
    if (this.#isPaused) stream.setPaused(true);
    const from = this.#options.resumeAt();
    if (from !== null) this.#listener.onResumed();
    this.#isReplayRequested = from !== null && !this.#isReplayRejected;
    this.#sendRequest(this.#isReplayRequested ? from : null);
  }

  #sendRequest(fromSlot: Slot | null): void {
    if (this.#requestTimer !== null) clearTimeout(this.#requestTimer);
    this.#requestTimer = null;
    const request = this.#options.request(fromSlot);
    this.#requestBytes = request.length;
    this.#stream?.send(request);
    this.#ping(this.#acks.startRequest());
  }

  #ping(ping: number): void {
    this.#stream?.send(encodeSubscribeRequest({ ping }));
  }

  #requestDelay(): number {
    const { requestDelayMs, requestDelayMaxMs } = this.#options.limits;
    return Math.max(requestDelayMs, Math.min(requestDelayMaxMs, this.#requestBytes / REQUEST_BYTES_PER_MS));
  }

  #handleMessage(message: SubscribeUpdate | null, node: string): void {
    const update = message?.update ?? null;
    if (message === null || update === null) return;
    switch (update.kind) {
      case 'ping':
        this.#ping(PONG_ID);
        return;
      case 'pong':
        this.#acks.acknowledge(update.id);
        return;
      case 'slot':
        this.#recordProgress();
        break;
    }
    this.#listener.onUpdate(update, message.createdAt ?? BigInt(Date.now()), node);
  }

  #recordProgress(): void {
    this.#stream?.recordProgress();
    this.#isReplayRequested = false;
    this.#isReplayRejected = false;
    this.#failures = 0;
    this.#downSince = null;
  }

  #handleEnd({ code }: GrpcStatus): void {
    this.#stream = null;
    this.#acks.reset();
    const { limits } = this.#options;
    const isReplayRejected = this.#isReplayRequested && noReplay.has(code);
    if (isReplayRejected) {
      this.#isReplayRejected = true;
      this.#connect();
      return;
    }
    if (code === 'INVALID_ARGUMENT' && !this.#acks.reject()) this.#listener.onRejected();
    // The listener may have stopped or restarted the connection.
    if (!this.#isStarted || this.#stream !== null) return;
    this.#downSince ??= performance.now();
    if (performance.now() - this.#downSince > limits.downMaxMs) {
      this.stop();
      this.#listener.onDown();
      return;
    }
    this.#failures++;
    if (this.#failures % limits.failuresMax === 0) this.#at++;
    const pause = exponentialBackoff(limits.reconnectMs, limits.reconnectMaxMs, this.#failures - 1);
    // Not unref'd: the process must stay alive while reconnecting.
    this.#reconnectTimer = setTimeout(() => this.#connect(), withJitter(pause));
  }
}
