import type { RawSlot } from '../../protocol/geyser/raw-update.ts';
import type { Slot } from '../../solana/units.ts';
import type { BlockScheduler } from './channel/block-scheduler.ts';
import { Channel, type Member } from './channel.ts';
import type { Filters } from './filters/compile.ts';
import type { GeyserSink } from './geyser-sink.ts';
import type { ReplayScheduler, ReplayTask } from './replay-scheduler.ts';
import { type Level, levelOfStatus, type SlotContent } from './slot-content.ts';
import type { SlotStore } from './slot-store.ts';

export type ReplayLimits = Readonly<{
  /** Bytes that may wait for a client before it is told more of the past. */
  replayAheadBytes: number;
  /** Pause before a client that has enough to read is looked at again, in milliseconds. */
  replayPauseMs: number;
}>;

type ReplayOptions = Readonly<{
  from: Slot;
  level: Level;
  filters: Filters;
  slotStore: SlotStore;
  /** Of the one stream that is told. */
  sink: GeyserSink;
  limits: ReplayLimits;
  blocks: BlockScheduler;
  /** Of all replays together. */
  replays: ReplayScheduler;
  /** All of the past was told: the stream hears what comes from now on, in the same turn. */
  onCaughtUp: () => void;
  /** What was to be told next is held no more; so many slots are between it and what is. */
  onLagged: (slots: bigint) => void;
}>;

/**
 * How a slot was made is not told again: clients that come back take a new bank for a new version of the slot, and
 * would hear all of it twice. Source: the plugin's replay, which has the three commitments only.
 */
const commitmentsOf = ({ statuses }: SlotContent): readonly (readonly [RawSlot, Level])[] =>
  statuses.flatMap((status) => {
    const level = levelOfStatus(status.status);
    return level === undefined ? [] : [[status, level] as const];
  });

/**
 * Tells one stream of slots that are over, slot by slot and no faster than it reads, until it has caught up with
 * what happens. Nothing is left out at the join, and nothing is told twice.
 */
export class Replay implements ReplayTask {
  readonly #options: ReplayOptions;
  /** Leads to the one stream alone. */
  readonly #channel: Channel;
  readonly #member: Member;
  /** By slot, how many of its statuses were told. */
  readonly #statusCounts = new Map<Slot, number>();
  #level: Level;
  #next: Slot;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#next = options.from;
    this.#level = options.level;
    this.#channel = new Channel(options.blocks);
    this.#member = this.#channel.add(options.sink);
    this.#member.replace(options.filters);
  }

  /** Tells the first slot in a later turn. */
  start(): void {
    this.#options.replays.schedule(this);
  }

  /** Something else is wanted of what was not told yet. */
  change(filters: Filters, level: Level): void {
    this.#member.replace(filters);
    this.#level = level;
  }

  /** Harmless when it is over. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#options.replays.cancel(this);
  }

  /** Tells the next slot. @returns whether it is ready for another. */
  runSlice(): boolean {
    if (this.#hasEnough()) {
      this.#wait();
      return false;
    }
    const { slotStore, onLagged } = this.#options;
    const first = slotStore.firstAvailable();
    if (first !== null && first > this.#next) {
      onLagged(first - this.#next);
      return false;
    }
    const [content] = slotStore.from(this.#next).filter(({ level }) => level >= this.#level);
    if (content === undefined) this.#join();
    else this.#emitSlot(content);
    return content !== undefined;
  }

  /** Whether the client has still to take what it was told, or a block is not told whole. */
  #hasEnough(): boolean {
    const { sink, blocks, limits } = this.#options;
    return (sink.waitingBytes ?? 0) > limits.replayAheadBytes || blocks.hasPendingBlock(sink);
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      if (this.#hasEnough()) this.#wait();
      else this.#options.replays.schedule(this);
    }, this.#options.limits.replayPauseMs);
  }

  #emitSlot(content: SlotContent): void {
    const [level, channel] = [this.#level, this.#channel];
    const { statuses, meta, slot } = content;
    const commitments = commitmentsOf(content);
    for (const [status, at] of commitments) if (at < level) channel.emit(status);
    for (const update of level === 0 ? content.content : content.finalContent()) channel.emit(update);
    const block = meta === null ? null : content.block(meta.createdAt);
    if (block !== null) channel.emit(block);
    if (meta !== null) channel.emit(meta);
    for (const [status, at] of commitments) if (at >= level) channel.emit(status);
    this.#statusCounts.set(slot, statuses.length);
    this.#next = (slot + 1n) as Slot;
  }

  #join(): void {
    const { slotStore, from } = this.#options;
    const [level, channel] = [this.#level, this.#channel];
    for (const content of slotStore.from(from)) {
      const emittedCount = this.#statusCounts.get(content.slot);
      if (emittedCount === undefined && content.level >= level) {
        this.#emitSlot(content);
        continue;
      }
      // That its bank was created comes before what happened in it.
      for (const status of content.statuses.slice(emittedCount ?? 0)) channel.emit(status);
      if (emittedCount === undefined && level === 0)
        for (const update of content.content) channel.emit(update);
    }
    this.#options.onCaughtUp();
  }
}
