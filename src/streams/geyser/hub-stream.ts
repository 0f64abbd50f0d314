import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import { Failure } from '../../protocol/errors.ts';
import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { SubscribeDeshredRequest, SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { GrpcError, type GrpcStatus } from '../../protocol/grpc/status.ts';
import type { Slot } from '../../solana/units.ts';
import type { BlockScheduler } from './channel/block-scheduler.ts';
import type { Channel, Member } from './channel.ts';
import { compileFilters, type Filters } from './filters/compile.ts';
import { requestedKinds } from './filters/requested-kinds.ts';
import type { OpenedStream } from './geyser-handler.ts';
import type { GeyserHubOptions } from './geyser-hub-options.ts';
import type { GeyserSink } from './geyser-sink.ts';
import type { FilterSet, GeyserSource } from './geyser-source.ts';
import { Replay, type ReplayScheduler } from './replay.ts';
import { type Level, levelOf } from './slot-content.ts';
import type { SlotStore } from './slot-store.ts';

type HubStreamOptions = Readonly<{
  sink: GeyserSink;
  channels: readonly [Channel, Channel, Channel];
  blocks: BlockScheduler;
  replays: ReplayScheduler;
  slotStore: SlotStore;
  source: GeyserSource;
  limits: GeyserHubOptions;
  onClosed: () => void;
}>;

export class HubStream implements OpenedStream {
  readonly #options: HubStreamOptions;
  level: Level = 0;
  #kinds: ReadonlySet<RawUpdate['kind']> = new Set();
  #member: Member | null = null;
  #filters: Filters | null = null;
  #filterSet: FilterSet | null = null;
  #replay: Replay | null = null;
  /** Incremented by each request, so that a request can tell whether it is still the newest. */
  #generation = 0;
  #isOpen = true;

  constructor(options: HubStreamOptions) {
    this.#options = options;
  }

  requestsAnyOf(kinds: ReadonlySet<RawUpdate['kind']>): boolean {
    return [...kinds].some((kind) => this.#kinds.has(kind));
  }

  /** @throws GrpcError; Failure; errors from the source. The stream must then be closed. */
  async request(request: SubscribeRequest | SubscribeDeshredRequest): Promise<void> {
    const subscribeRequest = request as SubscribeRequest;
    const filters = compileFilters(subscribeRequest);
    const from = subscribeRequest.fromSlot ?? null;
    if (from !== null && this.#options.limits.replaySlots === 0) {
      throw new GrpcError('INTERNAL', 'from_slot is not supported');
    }
    if (!this.#isOpen) return;
    const generation = ++this.#generation;
    const filterSet = this.#subscribe(subscribeRequest, from);
    this.#filters = filters;
    // A running replay continues with the new filters.
    if (from === null && this.#replay !== null) {
      this.#replay.change(filters, this.level);
      return;
    }
    this.#detach();
    if (from === null) {
      this.#attach(filters);
      return;
    }
    // Drops pending blocks, because a new replay starts.
    this.#options.blocks.drop(this.#options.sink);
    const timeout = AbortSignal.timeout(this.#options.limits.replayReadyTimeoutMs);
    await unlessAborted(filterSet.ready, timeout).catch(() => {
      throw new Failure('UPSTREAM_UNAVAILABLE');
    });
    if (generation !== this.#generation || !this.#isOpen) return;
    this.#checkReplay(from);
    this.#replayFrom(from, filters);
  }

  end(status: GrpcStatus): void {
    if (!this.#isOpen) return;
    this.close();
    this.#options.sink.end(status);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#detach();
    this.#options.blocks.drop(this.#options.sink);
    this.#filterSet?.end();
    this.#options.onClosed();
  }

  #subscribe(subscribeRequest: SubscribeRequest, from: Slot | null): FilterSet {
    const previous = this.#filterSet;
    const filterSet = this.#options.source.subscribe(subscribeRequest, from, previous);
    this.#filterSet = filterSet;
    previous?.end();
    this.#kinds = requestedKinds(subscribeRequest);
    this.level = levelOf(subscribeRequest.commitment);
    return filterSet;
  }

  #detach(): void {
    this.#replay?.stop();
    this.#replay = null;
    this.#member?.close();
    this.#member = null;
  }

  #attach(filters: Filters): void {
    this.#member = this.#options.channels[this.level].add(this.#options.sink);
    this.#member.replace(filters);
  }

  #checkReplay(from: Slot): void {
    const first = this.#options.slotStore.firstAvailable();
    if (first === null || from >= first) return;
    throw new GrpcError('OUT_OF_RANGE', `broadcast from ${from} is not available, last available: ${first}`);
  }

  #replayFrom(from: Slot, filters: Filters): void {
    const { slotStore, sink, limits, blocks, replays } = this.#options;
    this.#replay = new Replay({
      ...{ from, level: this.level, filters, slotStore, sink, limits, blocks, replays },
      onCaughtUp: () => {
        // The replay's last updates may have ended the stream.
        if (!this.#isOpen) return;
        this.#replay = null;
        this.#attach(this.#filters ?? filters);
      },
      onLagged: (slots) => {
        if (!this.#isOpen) return;
        this.close();
        const { waitingMessages = 0, waitingBytes = 0 } = sink;
        sink.lag({ messages: waitingMessages, bytes: waitingBytes, slots: Number(slots) });
      },
    });
    this.#replay.start();
  }
}
