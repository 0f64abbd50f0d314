import { commitments } from '../../protocol/commitment.ts';
import { rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import type { RawBlockMeta, RawSlot, RawUpdate } from '../../protocol/geyser/raw-update.ts';
import { GrpcError, type GrpcStatus } from '../../protocol/grpc/status.ts';
import type { Slot } from '../../solana/units.ts';
import { BlockScheduler } from './channel/block-scheduler.ts';
import { Channel } from './channel.ts';
import type { OpenedStream, StreamOpener, StreamRpc, UnaryRpc } from './geyser-handler.ts';
import { type GeyserHubOptions, geyserHubOptions } from './geyser-hub-options.ts';
import type { GeyserSink } from './geyser-sink.ts';
import {
  type GeyserListener,
  type GeyserSource,
  type ResetReason,
  unfilteredSource,
} from './geyser-source.ts';
import { HubStream } from './hub-stream.ts';
import { ReplayScheduler } from './replay.ts';
import { type Level, levelOfStatus, type RawContent, type SlotContent } from './slot-content.ts';
import { SlotStore } from './slot-store.ts';
import { ChainView, respondUnary } from './unary-responses.ts';

const resetStatuses: Readonly<Record<ResetReason, GrpcStatus>> = {
  source: { code: 'UNAVAILABLE', message: 'the update source changed; subscribe again' },
  chain: { code: 'DATA_LOSS', message: 'the chain was reset and earlier updates are void; subscribe again' },
};

/**
 * Distributes ledger updates to the streams that request them: at `processed` as they arrive, at `confirmed`
 * and `finalized` slot by slot. Stores the newest slots for streams that await a commitment or replay earlier
 * slots. Source: reference solana-grpc.md §2.8, §2.9.
 */
export class GeyserHub implements GeyserListener, StreamOpener {
  readonly #options: GeyserHubOptions;
  readonly #blocks: BlockScheduler;
  readonly #replays: ReplayScheduler;
  /** Indexed by level. */
  readonly #channels: readonly [Channel, Channel, Channel];
  #slotStore: SlotStore;
  #chain = new ChainView();
  readonly #streams = new Set<HubStream>();
  #source: GeyserSource = unfilteredSource;
  /** The first live slot. Lower slots are emitted to replays only. */
  #liveFrom: Slot | null = null;
  #hasPast = false;

  constructor(options: Partial<GeyserHubOptions> = {}) {
    this.#options = { ...geyserHubOptions, ...options };
    this.#slotStore = new SlotStore(this.#options);
    this.#blocks = new BlockScheduler(this.#options);
    this.#replays = new ReplayScheduler(this.#options.replaysMax);
    this.#channels = [new Channel(this.#blocks), new Channel(this.#blocks), new Channel(this.#blocks)];
  }

  /** Must be called before the first stream opens. */
  setSource(source: GeyserSource): void {
    this.#source = source;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Whether a slot is known, so that unary calls with the default commitment are answered. */
  get hasSlot(): boolean {
    return this.#chain.slot('processed') !== null;
  }

  onUpdate(update: RawUpdate): void {
    if (this.#liveFrom === null || (!this.#hasPast && update.slot < this.#liveFrom)) {
      this.#liveFrom = update.slot;
    }
    if (update.kind === 'slot') {
      const level = levelOfStatus(update.status);
      if (level === undefined) this.#emitLifecycle(update);
      else this.#advanceSlot(update, level);
    } else if (update.kind === 'blockMeta') this.#handleBlockMeta(update);
    else this.#emitContent(update);
  }

  onLost(from: Slot, to: Slot, kinds: ReadonlySet<RawUpdate['kind']>): void {
    const message = `updates of slots ${from} to ${to} were lost; subscribe again`;
    for (const stream of [...this.#streams]) {
      if (stream.requestsAnyOf(kinds)) stream.end({ code: 'DATA_LOSS', message });
    }
  }

  onReset(reason: ResetReason): void {
    this.close(resetStatuses[reason]);
    this.#slotStore = new SlotStore(this.#options);
    this.#chain = new ChainView();
    this.#liveFrom = null;
    this.#hasPast = false;
  }

  /** @throws GrpcError UNIMPLEMENTED for methods of the shred stage. */
  open(rpc: StreamRpc, sink: GeyserSink): OpenedStream {
    if (rpc !== 'Subscribe') throw new GrpcError('UNIMPLEMENTED', 'method disabled');
    const stream: HubStream = new HubStream({
      sink,
      channels: this.#channels,
      blocks: this.#blocks,
      replays: this.#replays,
      slotStore: this.#slotStore,
      source: {
        subscribe: (request, from, previous) => {
          if (from !== null) this.#hasPast = true;
          return this.#source.subscribe(request, from, previous);
        },
      },
      limits: this.#options,
      onClosed: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    return stream;
  }

  unary(rpc: UnaryRpc, request: Uint8Array): Uint8Array {
    const { version } = this.#options;
    return respondUnary(rpc, request, {
      chain: this.#chain,
      version,
      firstAvailable: this.#slotStore.firstAvailable(),
    });
  }

  close(status: GrpcStatus): void {
    for (const stream of [...this.#streams]) stream.end(status);
  }

  #emitContent(update: RawContent): void {
    // Accounts from a snapshot are not writes.
    if (update.kind === 'account' && update.isStartup) return;
    const content = this.#slotStore.getOrCreate(update.slot);
    if (content === null) return;
    content.add(update);
    if (!content.isProcessed && !this.#isPast(update.slot, 0)) this.#channels[0].emit(update);
  }

  #handleBlockMeta(meta: RawBlockMeta): void {
    const content = this.#slotStore.getOrCreate(meta.slot);
    if (content === null || content.meta !== null) return;
    content.setMeta(meta);
    content.parent ??= meta.parentSlot;
    this.#chain.add(meta);
  }

  #emitLifecycle(status: RawSlot): void {
    const content = this.#slotStore.getOrCreate(status.slot);
    if (content === null) return;
    const wasDead = content.statuses.some((previous) => previous.status === 'dead');
    if (status.status === 'createdBank' && wasDead) content.restart();
    content.parent ??= status.parent;
    content.addStatus(status);
    if (!this.#isPast(status.slot, 0)) this.#emitAll(status);
  }

  #advanceSlot(status: RawSlot, level: Level): void {
    const { slot } = status;
    const content = this.#slotStore.get(slot);
    if (content === null) {
      // Slots before the first live slot have only statuses.
      if (!this.#isPast(slot, level)) this.#emitAll(status);
      this.#chain.advance(slot, level);
      return;
    }
    content.parent ??= status.parent;
    const chain =
      level === 0 ? (content.isProcessed ? [] : [content]) : this.#slotStore.ancestors(slot, level);
    for (const each of chain) this.#raise(each, level, status);
    this.#prune();
  }

  /** Emits every level up to the new level, including skipped levels. */
  #raise(content: SlotContent, level: Level, cause: RawSlot): void {
    for (let next = content.level + 1; next <= level; next++) {
      const at = next as Level;
      const isCause = content.slot === cause.slot && at === level;
      const status = isCause ? cause : this.#statusOf(content, at, cause.createdAt);
      const isPast = this.#isPast(content.slot, at);
      if (!isPast) this.#flush(content, at, status.createdAt);
      content.level = at;
      content.addStatus(status);
      if (at === 0) this.#slotStore.markProcessed(content.slot);
      this.#chain.advance(content.slot, at);
      if (!isPast) this.#emitAll(status);
    }
  }

  #statusOf({ slot, parent }: SlotContent, level: Level, createdAt: Uint8Array): RawSlot {
    return rawSlot({ kind: 'slot', slot, parent, status: commitments[level], deadError: null }, createdAt);
  }

  /** Emits content before its status. At `processed`, only the block and its meta remain; the rest was sent before. */
  #flush(content: SlotContent, level: Level, createdAt: Uint8Array): void {
    const channel = this.#channels[level];
    if (channel.size === 0) return;
    if (level > 0) for (const update of content.finalContent()) channel.emit(update);
    const block = content.block(createdAt);
    if (block === null) return;
    channel.emit(block);
    channel.emit(block.meta);
  }

  /** Confirmed and finalized slots are emitted in ascending order. Processed slots are not: they include forks. */
  #isPast(slot: Slot, level: Level): boolean {
    if (level === 0) return this.#liveFrom !== null && slot < this.#liveFrom;
    const newest = this.#chain.slot(commitments[level]);
    return newest !== null && slot <= newest;
  }

  #emitAll(status: RawSlot): void {
    for (const channel of this.#channels) if (channel.size > 0) channel.emit(status);
  }

  #prune(): void {
    const unfinished = this.#slotStore.prune(this.#chain.slot('finalized'));
    if (unfinished.length === 0) return;
    for (const stream of [...this.#streams]) {
      const missing = unfinished.filter(({ level }) => level < stream.level);
      const [first] = missing;
      if (first === undefined) continue;
      const slots = `slots ${first.slot} to ${missing.at(-1)?.slot}`;
      const message = `updates of ${slots} were dropped before they reached the commitment: slot limit reached`;
      stream.end({ code: 'DATA_LOSS', message });
    }
  }
}
