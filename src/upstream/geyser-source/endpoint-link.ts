import type { Logger } from '../../base/log.ts';
import type { Slot } from '../../ledger/units.ts';
import { encodeSubscribeRequest, type SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { GrpcStatus } from '../../protocol/grpc/status.ts';
import { type GeyserNode, noReplay } from '../feeds/geyser/geyser-link.ts';
import { RequestAcks } from '../feeds/geyser/request-acks.ts';
import { doublingPause, spreadPause } from '../retry-pause.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import type { Teller } from './teller.ts';
import { UpdateStream } from './update-stream.ts';
import { type Breadth, breadths } from './wish-union.ts';

export type EndpointLinkOptions = Readonly<{
  node: GeyserNode;
  limits: GeyserSourceOptions;
  log: Logger;
  /** All that is wanted now. */
  request: (breadth: Breadth) => SubscribeRequest;
  /** Where a stream that is cut goes on; null where nothing was told yet. */
  resumeAt: () => Slot | null;
  /** A stream begins, with a replay from a slot on or without one; and with blocks that seal their slots, or not. */
  join: (from: Slot | null, seals: boolean) => Teller;
  leave: (teller: Teller) => void;
}>;

const keyOf = (request: Buffer | null): string | null => request?.toString('latin1') ?? null;

/** `from`: a replay was asked for. */
type Run = Readonly<{ stream: UpdateStream; teller: Teller; from: Slot | null }>;

/**
 * The stream of one server, which is connected to again for as long as it takes: asks for all that is wanted, asks
 * anew when that changes, and for a replay of what a cut may have lost. A server that refuses what it is asked is
 * asked for something broader, and at last for what it took before.
 */
export class EndpointLink {
  readonly #options: EndpointLinkOptions;
  readonly #acks: RequestAcks;
  #run: Run | null = null;
  #isUp = false;
  #isClosed = false;
  #breadth = 0;
  #requested: Buffer | null = null;
  /** Of the ping behind it. */
  #askedId = 0;
  /** A request that the server took: the last of which that is known. */
  #accepted: Buffer | null = null;
  /** It refuses all that is wanted now. */
  #isRefused = false;
  #replayRefused = false;
  #failures = 0;
  #requestTimer: NodeJS.Timeout | null = null;
  #reconnectTimer: NodeJS.Timeout | null = null;

  constructor(options: EndpointLinkOptions) {
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
  get breadth(): Breadth {
    return breadths[this.#breadth] ?? 'broad';
  }

  /** Something else is wanted. @returns kept when the server has heard of it, or will not in time. */
  changed(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isRefused = false;
    if (this.#run !== null) {
      this.#requestTimer ??= setTimeout(() => this.#askAgain(), this.#options.limits.requestDelayMs);
    }
    return this.#acks.wait().catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    this.#clearTimers();
    this.#run?.stream.close();
    if (this.#run !== null) this.#options.leave(this.#run.teller);
    this.#run = null;
    this.#acks.giveUp();
  }

  #connect(): void {
    this.#reconnectTimer = null;
    const from = this.#replayRefused ? null : this.#options.resumeAt();
    const teller = this.#options.join(from, this.breadth === 'exact');
    const { node, limits, log } = this.#options;
    const stream = new UpdateStream(
      { node, limits, log, teller },
      {
        opened: () => {
          this.#isUp = true;
          this.#acks.opened();
        },
        pong: (id) => {
          // After an older ping the newest request may still be refused.
          if (id === this.#askedId) this.#taken(teller);
          this.#acks.answered(id);
        },
        slotTold: () => {
          this.#failures = 0;
          this.#replayRefused = false;
        },
        ended: (status) => this.#ended(status),
      },
    );
    this.#run = { stream, teller, from };
    this.#ask();
  }

  /** The server took the newest request. */
  #taken(teller: Teller): void {
    this.#accepted = this.#requested;
    teller.asked(keyOf(this.#requested));
  }

  #askAgain(): void {
    this.#requestTimer = null;
    this.#ask();
  }

  #ask(): void {
    const request = Buffer.from(encodeSubscribeRequest(this.#options.request(this.breadth)));
    const taken = this.#isRefused && this.#accepted !== null ? this.#accepted : request;
    const isFirst = this.#run?.teller.request === '';
    if (isFirst || this.#requested === null || !taken.equals(this.#requested)) {
      this.#run?.teller.asked(isFirst ? keyOf(taken) : null);
    }
    this.#requested = taken;
    const fromSlot = this.#replayOwed();
    const parts = fromSlot === null ? [taken] : [taken, encodeSubscribeRequest({ fromSlot })];
    // A message of protobuf may be written in parts, one behind the other.
    this.#run?.stream.send(Buffer.concat(parts));
    this.#askedId = this.#acks.asked();
    this.#run?.stream.ping(this.#askedId);
  }

  /** Servers serve only the newest of the requests that wait: until one has begun to replay, each asks for it. */
  #replayOwed(): Slot | null {
    if (this.#run === null || this.#run.teller.replays || this.#run.teller.newest !== null) return null;
    return this.#run.from;
  }

  #ended(status: GrpcStatus): void {
    const run = this.#run;
    this.#run = null;
    this.#isUp = false;
    this.#acks.lost();
    this.#clearTimers();
    if (run !== null) this.#options.leave(run.teller);
    if (this.#isClosed) return;
    if (this.#asksLess(status, run)) {
      this.#connect();
      return;
    }
    const { reconnectMs, reconnectMaxMs } = this.#options.limits;
    const pause = doublingPause(reconnectMs, reconnectMaxMs, this.#failures++);
    // Not unref'd: a source that looks for its server is alive.
    this.#reconnectTimer = setTimeout(() => this.#connect(), spreadPause(pause));
  }

  /** What a server refuses is asked of it in another way, at once. @returns whether there is one. */
  #asksLess({ code }: GrpcStatus, run: Run | null): boolean {
    const asksReplay = run !== null && run.from !== null && !run.teller.replays;
    // There are servers that replay, but no blocks.
    const last = asksReplay ? 1 : breadths.length - 1;
    if (code === 'INVALID_ARGUMENT' && this.#breadth < last) {
      this.#breadth++;
      return true;
    }
    if (asksReplay && noReplay.has(code)) {
      this.#replayRefused = true;
      this.#breadth = 0;
      return true;
    }
    if (code !== 'INVALID_ARGUMENT') {
      this.#breadth = 0;
      return false;
    }
    this.#acks.refuse();
    const wasRefused = this.#isRefused;
    this.#isRefused = true;
    return !wasRefused && this.#accepted !== null;
  }

  #clearTimers(): void {
    for (const timer of [this.#requestTimer, this.#reconnectTimer]) if (timer !== null) clearTimeout(timer);
    this.#requestTimer = null;
    this.#reconnectTimer = null;
  }
}
