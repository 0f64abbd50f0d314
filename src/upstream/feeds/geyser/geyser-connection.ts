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
import type { GrpcStreamLimits } from '../../geyser/grpc-stream.ts';
import { MonitoredStream } from '../../geyser/monitored-stream.ts';
import { RequestAcks } from '../../geyser/request-acks.ts';

/** Every limit of a Geyser feed. Times in milliseconds, sizes in bytes. */
export type GeyserLimits = GrpcStreamLimits &
  Readonly<{
    /** How long a request gathers changes before it is sent: servers refuse many in a row. */
    requestDelayMs: number;
    /** How long at most a large request does, which says all that is wanted again. */
    requestDelayMaxMs: number;
    /** How long `open` waits for a sign that a request is in force. */
    ackTimeoutMs: number;
    /** How long `open` waits for a stream before PubSub is asked instead. */
    openTimeoutMs: number;
    /** Filters of one request: beyond it, subscriptions are refused. */
    filtersMax: number;
    /** Addresses in all filters of one request, each about 46 bytes: servers take 4 MiB. Beyond it, as with filters. */
    addressesMax: number;
    /** Filtered subscriptions of one program that are asked for one by one; beyond it, the whole program is. */
    programFiltersMax: number;
    /** Failures in a row after which the next server is tried. */
    failuresMax: number;
    /** How long all servers may be away before the subscriptions are given up. */
    downMaxMs: number;
    /** Between two looks whether servers that are away are back; until then subscriptions are refused at once. */
    awayMs: number;
    /** Slots that are asked for again after a stream was cut; servers keep about 150. */
    replaySlotsMax: number;
    /** Slots whose messages are remembered, so that none is told twice. */
    seenSlotsMax: number;
    /** Events that wait while something is fetched before the stream is stopped. */
    heldMax: number;
    /** Mints that are remembered. */
    mintsMax: number;
    /** How long a Token-2022 mint is believed: its scale may change. */
    mintMaxAgeMs: number;
    /** How long mints hold the stream back in every `mintRetryMs`; beyond it, accounts are shown in base64. */
    mintWaitMs: number;
    /** Pause before a mint that could not be fetched is asked for again; also how long an answer is waited for. */
    mintRetryMs: number;
    /** Mints that are fetched at the same time. */
    mintFetchesMax: number;
  }>;

/** What holds unless configuration says otherwise. */
export const geyserLimits: GeyserLimits = {
  connectTimeoutMs: 3_000,
  pingIntervalMs: 10_000,
  pongTimeoutMs: 5_000,
  messageMaxBytes: 128 * 1024 * 1024,
  windowBytes: 8 * 1024 * 1024,
  requestDelayMs: 20,
  requestDelayMaxMs: 100,
  ackTimeoutMs: 2_000,
  openTimeoutMs: 3_000,
  filtersMax: 100,
  addressesMax: 20_000,
  programFiltersMax: 8,
  stallMs: 5_000,
  reconnectMs: 250,
  reconnectMaxMs: 10_000,
  failuresMax: 2,
  downMaxMs: 15_000,
  awayMs: 10_000,
  replaySlotsMax: 120,
  seenSlotsMax: 512,
  heldMax: 10_000,
  mintsMax: 10_000,
  mintMaxAgeMs: 60_000,
  mintWaitMs: 500,
  mintRetryMs: 5_000,
  mintFetchesMax: 16,
};

type GeyserConnectionOptions = Readonly<{
  /** At least one. */
  nodes: readonly GeyserNode[];
  limits: GeyserLimits;
  log: Logger;
  /** All that is wanted now, as an encoded `SubscribeRequest`; from a slot on where one is named. */
  request: (fromSlot: Slot | null) => Uint8Array;
  /** Where a stream that was cut goes on; null where nothing was told yet. */
  resumeAt: () => Slot | null;
}>;

interface GeyserConnectionListener {
  /** @param at - when the server had it, Unix milliseconds. */
  onUpdate(update: Update, at: bigint, node: string): void;
  /** A stream that replaces another one begins: what comes may be doubled, or have a hole before it. */
  onResumed(): void;
  /** A server refuses what is asked, and nobody waits for an acknowledgement. */
  onRejected(): void;
  /** All servers have been away for too long. The link is stopped. */
  onDown(): void;
}

/** A request of so many bytes gathers changes for a millisecond. */
const REQUEST_BYTES_PER_MS = 4_096;

/**
 * The one Geyser stream of a feed: connects, asks for all that is wanted, asks anew when that changes, answers
 * pings, and goes elsewhere when a server dies, stands still or says goodbye. Times are `performance.now()`.
 */
export class GeyserConnection {
  readonly #options: GeyserConnectionOptions;
  readonly #listener: GeyserConnectionListener;
  readonly #acks: RequestAcks;
  #nodes: readonly GeyserNode[];
  #at = 0;
  #stream: MonitoredStream<SubscribeUpdate | null> | null = null;
  #requestTimer: NodeJS.Timeout | null = null;
  /** Of the newest request. */
  #requestBytes = 0;
  #reconnectTimer: NodeJS.Timeout | null = null;
  #isStarted = false;
  #failures = 0;
  #downSince: number | null = null;
  /** The stream asked for a replay and has told nothing yet. */
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
   * Something else is wanted from now on.
   * @returns kept when a server has heard of it.
   * @throws AckTimeout when none has in time; RequestRefused.
   */
  updateRequest(): Promise<void> {
    const acknowledged = this.#acks.wait();
    if (!this.#isStarted) this.#start();
    else if (this.#stream !== null) {
      this.#requestTimer ??= setTimeout(() => this.#sendRequest(null), this.#requestDelay());
    }
    return acknowledged;
  }

  /** Ends the stream; `changed` begins again. */
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

  /** Takes these servers from now on, at least one; a stream of another one goes on from them. */
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

  /** Holds the server back, or no longer. */
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

  /** Sends all that is wanted, and a ping whose answer says that it was heard. */
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

  /** A request says everything again, so larger ones gather changes for longer. */
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
    // With the last of what was wanted, whoever heard of it has stopped the link.
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
    // Not unref'd: a feed that looks for its server is alive.
    this.#reconnectTimer = setTimeout(() => this.#connect(), withJitter(pause));
  }
}
