import type { Logger } from '../../base/log.ts';
import { readRawUpdate } from '../../protocol/geyser/read-raw-update.ts';
import { encodeSubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { GrpcStatus } from '../../protocol/grpc/status.ts';
import type { Slot } from '../../solana/units.ts';
import { exponentialBackoff, withJitter } from '../exponential-backoff.ts';
import { type GeyserNode, noReplay, PONG_ID, SUBSCRIBE } from './geyser-node.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import type { GrpcStreamLimits } from './grpc-stream.ts';
import { JUMP_MAX_SLOTS } from './max-plausible-slot.ts';
import { type EncodedRequest, type RequestScope, requestScopes } from './merge-filters.ts';
import { MonitoredStream } from './monitored-stream.ts';
import { RequestAcks } from './request-acks.ts';
import type { StreamReader } from './stream-reader.ts';

type UpdateStreamOptions = Readonly<{
  node: GeyserNode;
  limits: GrpcStreamLimits;
  log: Logger;
  reader: StreamReader;
}>;

interface UpdateStreamListener {
  onOpen(): void;
  onPong(id: number): void;
  onSlot(): void;
  onEnd(status: GrpcStatus): void;
}

const progressKinds: ReadonlySet<string> = new Set(['slot', 'blockMeta', 'blockCounts']);

/** One update stream from one server. Passes updates to a reader and answers pings. */
export class UpdateStream extends MonitoredStream<ReturnType<typeof readRawUpdate>> {
  #slot = -1n;

  constructor({ node, limits, log, reader }: UpdateStreamOptions, listener: UpdateStreamListener) {
    const { grpc: url, headers = {}, name } = node;
    // Write versions are comparable only within this stream: a restarted server counts from zero.
    const origin = {};
    super(
      {
        ...{ ...limits, url, headers, method: SUBSCRIBE, log, logFields: { node: name } },
        decode: (bytes) => readRawUpdate(bytes, Date.now(), origin),
      },
      {
        onOpen: () => listener.onOpen(),
        onMessage: (update) => {
          if (update === null) return;
          switch (update.kind) {
            case 'ping':
              this.ping(PONG_ID);
              return;
            case 'pong':
              if (update.id > PONG_ID) listener.onPong(update.id);
              return;
            case 'slot':
              // A slot far below the last slot also counts as progress: the last slot must have been implausible.
              if (update.slot > this.#slot || update.slot + JUMP_MAX_SLOTS < this.#slot) {
                this.#slot = update.slot;
                this.recordProgress();
              }
          }
          reader.handleUpdate(update);
          if (progressKinds.has(update.kind)) listener.onSlot();
        },
        onEnd: (status) => listener.onEnd(status),
      },
    );
  }

  ping(id: number): void {
    this.send(encodeSubscribeRequest({ ping: id }));
  }
}

type EndpointConnectionOptions = Readonly<{
  node: GeyserNode;
  limits: GeyserSourceOptions;
  log: Logger;
  request: (scope: RequestScope) => EncodedRequest;
  resumeSlot: () => Slot | null;
  /** `from`: first replayed slot. `seals`: the request includes block messages, which mark complete slots. */
  addReader: (from: Slot | null, seals: boolean) => StreamReader;
  removeReader: (reader: StreamReader) => void;
  onProgress: () => void;
  onRejected: () => void;
}>;

/** Number of request bytes that add 1 ms of delay. */
const REQUEST_BYTES_PER_MS = 4_096;

type ActiveStream = Readonly<{ stream: UpdateStream; reader: StreamReader; from: Slot | null }>;

/**
 * A reconnecting stream to one server. Sends the merged request, and requests a replay after a disconnect. If the
 * server rejects a request, widens the request step by step, and finally sends the last accepted request.
 */
export class EndpointConnection {
  readonly #options: EndpointConnectionOptions;
  readonly #acks: RequestAcks;
  #active: ActiveStream | null = null;
  isUp = false;
  #isClosed = false;
  #scope = 0;
  #acceptedScope = 0;
  #lastRequest: EncodedRequest | null = null;
  #pingId = 0;
  #accepted: EncodedRequest | null = null;
  isRejected = false;
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

  get scope(): RequestScope {
    return requestScopes[this.#scope] ?? 'broad';
  }

  /** @returns whether the server accepted the changed request in time. */
  updateRequest(): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    this.isRejected = false;
    if (this.#active !== null) {
      this.#requestTimer ??= setTimeout(() => this.#sendChangedRequest(), this.#requestDelay());
    }
    return this.#acks.wait().then(
      () => true,
      () => false,
    );
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
    const from = this.#isReplayRejected ? null : this.#options.resumeSlot();
    const reader = this.#options.addReader(from, this.scope === 'exact');
    const { node, limits, log } = this.#options;
    const stream = new UpdateStream(
      { node, limits, log, reader },
      {
        onOpen: () => {
          this.isUp = true;
          this.#acks.markOpen();
        },
        onPong: (id) => {
          // The answer to an older ping does not acknowledge the newest request.
          if (id === this.#pingId) {
            this.#accepted = this.#lastRequest;
            this.#acceptedScope = this.#scope;
            reader.setRequest(this.#lastRequest);
          }
          this.#acks.acknowledge(id);
        },
        onSlot: () => {
          this.#failures = 0;
          this.#isReplayRejected = false;
          this.#options.onProgress();
        },
        onEnd: (status) => {
          const active = this.#active;
          this.#active = null;
          this.isUp = false;
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
          // Not unref'd: the process must stay alive while reconnecting.
          this.#reconnectTimer = setTimeout(() => this.#connect(), withJitter(pause));
        },
      },
    );
    this.#active = { stream, reader, from };
    this.#sendRequest();
  }

  #sendChangedRequest(): void {
    this.#requestTimer = null;
    if (this.#accepted !== this.#lastRequest || this.#accepted?.key !== this.#options.request(this.scope).key)
      this.#sendRequest();
    else this.#acks.acknowledge(this.#acks.startRequest());
  }

  #sendRequest(): void {
    const request = this.#options.request(this.scope);
    const effective = this.isRejected && this.#accepted !== null ? this.#accepted : request;
    const isFirst = this.#active?.reader.request === '';
    if (isFirst || effective.key !== this.#lastRequest?.key) {
      this.#active?.reader.setRequest(isFirst ? effective : null);
    }
    this.#lastRequest = effective;
    const fromSlot = this.#pendingReplay();
    const parts =
      fromSlot === null ? [effective.bytes] : [effective.bytes, encodeSubscribeRequest({ fromSlot })];
    // Concatenated protobuf messages merge into one.
    this.#active?.stream.send(Buffer.concat(parts));
    this.#pingId = this.#acks.startRequest();
    this.#active?.stream.ping(this.#pingId);
  }

  /** Large requests are delayed longer, because each request repeats all filters. */
  #requestDelay(): number {
    const { requestDelayMs, requestDelayMaxMs } = this.#options.limits;
    const bytes = this.#lastRequest?.bytes.length ?? 0;
    return Math.max(requestDelayMs, Math.min(requestDelayMaxMs, bytes / REQUEST_BYTES_PER_MS));
  }

  /** Servers process only the newest queued request, so each request repeats `from_slot` until the replay starts. */
  #pendingReplay(): Slot | null {
    if (this.#active === null || this.#active.reader.isReplaying || this.#active.reader.newest !== null)
      return null;
    return this.#active.from;
  }

  /** Chooses another request after a rejection. @returns whether to reconnect at once. */
  #reduceScope({ code }: GrpcStatus, active: ActiveStream | null): boolean {
    const isReplayRequested = active !== null && active.from !== null && !active.reader.isReplaying;
    // Some servers support replay but reject block filters, so a replay is also tried without them.
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
    const wasRejected = this.isRejected;
    this.isRejected = true;
    this.#scope = this.#acceptedScope;
    if (!this.#acks.reject()) this.#options.onRejected();
    return !wasRejected && this.#accepted !== null;
  }

  #clearTimers(): void {
    for (const timer of [this.#requestTimer, this.#reconnectTimer]) if (timer !== null) clearTimeout(timer);
    this.#requestTimer = null;
    this.#reconnectTimer = null;
  }
}
