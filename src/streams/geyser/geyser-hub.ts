import type { Slot } from '../../ledger/units.ts';
import { commitments } from '../../protocol/commitment.ts';
import { rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import type { RawBlockMeta, RawSlot, RawUpdate } from '../../protocol/geyser/raw-update.ts';
import { GrpcError, type GrpcStatus } from '../../protocol/grpc/status.ts';
import { ChainView } from './chain-view.ts';
import { BlockTurns } from './channel/block-turns.ts';
import { Channel } from './channel.ts';
import type { StreamRpc, UnaryRpc } from './geyser-door.ts';
import { type GeyserHubOptions, geyserHubOptions } from './geyser-hub-options.ts';
import type { GeyserSink } from './geyser-sink.ts';
import { fullSource, type GeyserListener, type GeyserSource, type StartOver } from './geyser-source.ts';
import { HeldContent } from './held-content.ts';
import { HubStream } from './hub-stream.ts';
import { type Level, levelOfStatus } from './level.ts';
import { ReplayTurns } from './replay-turns.ts';
import type { RawContent, SlotContent } from './slot-content.ts';
import type { OpenedStream, StreamOpener } from './stream-opener.ts';
import { answerUnary } from './unary-answers.ts';

/** What streams are ended with that were told what counts no more. */
const startsOver: Readonly<Record<StartOver, GrpcStatus>> = {
  source: { code: 'UNAVAILABLE', message: 'what feeds the streams is another now: subscribe again' },
  chain: { code: 'DATA_LOSS', message: 'what was told is not what goes on: subscribe again' },
};

/**
 * What a ledger tells goes in, and comes out of every stream that wants it: at once where a stream is at processed,
 * slot by slot as they are confirmed or finalized where it is at those. Holds the newest slots, for those who wait
 * and for those who begin in the past. Source: reference solana-grpc.md §2.8, §2.9.
 */
export class GeyserHub implements GeyserListener, StreamOpener {
  readonly #options: GeyserHubOptions;
  readonly #blocks: BlockTurns;
  readonly #replays: ReplayTurns;
  /** By level. */
  readonly #channels: readonly [Channel, Channel, Channel];
  #held: HeldContent;
  #chain = new ChainView();
  readonly #streams = new Set<HubStream>();
  #source: GeyserSource = fullSource;
  /**
   * The lowest slot that was told before anybody began in the past: what is told of lower ones is for those who did.
   */
  #liveFrom: Slot | null = null;
  #hasPast = false;

  constructor(options: Partial<GeyserHubOptions> = {}) {
    this.#options = { ...geyserHubOptions, ...options };
    this.#held = new HeldContent(this.#options);
    this.#blocks = new BlockTurns(this.#options);
    this.#replays = new ReplayTurns(this.#options);
    this.#channels = [new Channel(this.#blocks), new Channel(this.#blocks), new Channel(this.#blocks)];
  }

  /** Names who tells the updates, and is told what is wanted. Before the first stream is opened. */
  feedFrom(source: GeyserSource): void {
    this.#source = source;
  }

  /** Streams that are open. */
  get size(): number {
    return this.#streams.size;
  }

  tell(update: RawUpdate): void {
    if (this.#liveFrom === null || (!this.#hasPast && update.slot < this.#liveFrom)) {
      this.#liveFrom = update.slot;
    }
    if (update.kind === 'slot') this.#tellSlot(update);
    else if (update.kind === 'blockMeta') this.#tellMeta(update);
    else this.#tellContent(update);
  }

  lost(from: Slot, to: Slot, kinds: ReadonlySet<RawUpdate['kind']>): void {
    const message = `updates of slots ${from} to ${to} were lost: subscribe again`;
    for (const stream of [...this.#streams]) {
      if (stream.wantsOneOf(kinds)) stream.end({ code: 'DATA_LOSS', message });
    }
  }

  /** All begins as at the start. */
  startOver(why: StartOver): void {
    this.close(startsOver[why]);
    this.#held = new HeldContent(this.#options);
    this.#chain = new ChainView();
    this.#liveFrom = null;
    this.#hasPast = false;
  }

  /** @throws GrpcError UNIMPLEMENTED for what belongs to the shred stage. */
  open(rpc: StreamRpc, sink: GeyserSink): OpenedStream {
    if (rpc !== 'Subscribe') throw new GrpcError('UNIMPLEMENTED', 'method disabled');
    const stream: HubStream = new HubStream({
      sink,
      channels: this.#channels,
      blocks: this.#blocks,
      replays: this.#replays,
      held: this.#held,
      source: {
        want: (request, from, before) => {
          if (from !== null) this.#hasPast = true;
          return this.#source.want(request, from, before);
        },
      },
      limits: this.#options,
      closed: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    return stream;
  }

  unary(rpc: UnaryRpc, request: Uint8Array): Uint8Array {
    const { version } = this.#options;
    return answerUnary(rpc, request, {
      chain: this.#chain,
      version,
      firstAvailable: this.#held.firstAvailable(),
    });
  }

  /** Ends every stream. */
  close(status: GrpcStatus): void {
    for (const stream of [...this.#streams]) stream.end(status);
  }

  #tellContent(update: RawContent): void {
    // What a node loads from its snapshot is no write.
    if (update.kind === 'account' && update.isStartup) return;
    const content = this.#held.at(update.slot);
    if (content === null) return;
    content.add(update);
    if (!content.isProcessed && !this.#isPast(update.slot, 0)) this.#channels[0].tell(update);
  }

  #tellMeta(meta: RawBlockMeta): void {
    const content = this.#held.at(meta.slot);
    if (content === null || content.meta !== null) return;
    content.close(meta);
    content.parent ??= meta.parentSlot;
    this.#chain.add(meta);
  }

  #tellSlot(status: RawSlot): void {
    const level = levelOfStatus(status.status);
    if (level === undefined) this.#tellLifecycle(status);
    else this.#tellReached(status, level);
  }

  #tellLifecycle(status: RawSlot): void {
    const content = this.#held.at(status.slot);
    if (content === null) return;
    if (status.status === 'createdBank' && content.statuses.some(({ status: told }) => told === 'dead')) {
      content.restart();
    }
    content.parent ??= status.parent;
    content.addStatus(status);
    if (!this.#isPast(status.slot, 0)) this.#tellAll(status);
  }

  #tellReached(status: RawSlot, level: Level): void {
    const { slot } = status;
    const content = this.#held.get(slot);
    if (content === null) {
      // Of a slot from before the first that was told there is nothing but how far it came.
      if (!this.#isPast(slot, level)) this.#tellAll(status);
      this.#chain.reached(slot, level);
      return;
    }
    content.parent ??= status.parent;
    const line = level === 0 ? (content.isProcessed ? [] : [content]) : this.#held.line(slot, level);
    for (const each of line) this.#raise(each, level, status);
    this.#prune();
  }

  /** Tells of each level on the way, also of those that nobody named. */
  #raise(content: SlotContent, level: Level, cause: RawSlot): void {
    for (let next = content.reached + 1; next <= level; next++) {
      const at = next as Level;
      const isCause = content.slot === cause.slot && at === level;
      const status = isCause ? cause : this.#statusOf(content, at, cause.createdAt);
      const isPast = this.#isPast(content.slot, at);
      if (!isPast) this.#flush(content, at, status.createdAt);
      content.reached = at;
      content.addStatus(status);
      if (at === 0) this.#held.processed(content.slot);
      this.#chain.reached(content.slot, at);
      if (!isPast) this.#tellAll(status);
    }
  }

  #statusOf({ slot, parent }: SlotContent, level: Level, createdAt: Uint8Array): RawSlot {
    return rawSlot({ kind: 'slot', slot, parent, status: commitments[level], deadError: null }, createdAt);
  }

  /** What comes before the status: at processed the content went out as it came. */
  #flush(content: SlotContent, level: Level, createdAt: Uint8Array): void {
    const channel = this.#channels[level];
    if (channel.size === 0) return;
    if (level > 0) for (const update of content.settled()) channel.tell(update);
    const block = content.block(createdAt);
    if (block === null) return;
    channel.tell(block);
    channel.tell(block.meta);
  }

  /** Slots come to be confirmed and finalized in order; to be processed, also those of forks. */
  #isPast(slot: Slot, level: Level): boolean {
    if (level === 0) return this.#liveFrom !== null && slot < this.#liveFrom;
    const newest = this.#chain.slot(commitments[level]);
    return newest !== null && slot <= newest;
  }

  #tellAll(status: RawSlot): void {
    for (const channel of this.#channels) if (channel.size > 0) channel.tell(status);
  }

  #prune(): void {
    const unfinished = this.#held.prune(this.#chain.slot('finalized'));
    if (unfinished.length === 0) return;
    for (const stream of [...this.#streams]) {
      const owed = unfinished.filter(({ reached }) => reached < stream.level);
      const [first] = owed;
      if (first === undefined) continue;
      const slots = `slots ${first.slot} to ${owed.at(-1)?.slot}`;
      const message = `updates of ${slots} were let go before they reached the commitment: more waits than may be held`;
      stream.end({ code: 'DATA_LOSS', message });
    }
  }
}
