import type { RawSlot } from '../../protocol/geyser/raw-update.ts';
import type { Slot } from '../../solana/units.ts';
import type { BlockScheduler } from './channel/block-scheduler.ts';
import { Channel, type Member } from './channel.ts';
import type { Filters } from './filters/compile.ts';
import type { GeyserHubOptions } from './geyser-hub-options.ts';
import type { GeyserSink } from './geyser-sink.ts';
import { type Level, levelOfStatus, type SlotContent } from './slot-content.ts';
import type { SlotStore } from './slot-store.ts';

interface ReplayTask {
  /** @returns whether to schedule another slice. */
  runSlice(): boolean;
}

/** Runs replays round-robin: one slot of one replay per turn of the event loop. */
export class ReplayScheduler {
  readonly #replaysMax: number;
  readonly #active = new Set<ReplayTask>();
  readonly #waiting = new Set<ReplayTask>();
  #tick: NodeJS.Immediate | null = null;

  constructor(replaysMax: number) {
    this.#replaysMax = replaysMax;
  }

  schedule(task: ReplayTask): void {
    this.#waiting.add(task);
    this.#fill();
  }

  cancel(task: ReplayTask): void {
    this.#waiting.delete(task);
    if (this.#active.delete(task)) this.#fill();
  }

  #fill(): void {
    for (const task of this.#waiting) {
      if (this.#active.size >= this.#replaysMax) break;
      this.#waiting.delete(task);
      this.#active.add(task);
    }
    if (this.#active.size > 0) this.#tick ??= setImmediate(() => this.#runNext());
  }

  #runNext(): void {
    this.#tick = null;
    const [task] = this.#active;
    if (task !== undefined) {
      const hasMore = task.runSlice();
      if (this.#active.delete(task) && hasMore) this.#active.add(task);
    }
    this.#fill();
  }
}

type ReplayOptions = Readonly<{
  from: Slot;
  level: Level;
  filters: Filters;
  slotStore: SlotStore;
  sink: GeyserSink;
  limits: Pick<GeyserHubOptions, 'replayAheadBytes' | 'replayPauseMs'>;
  blocks: BlockScheduler;
  replays: ReplayScheduler;
  /** Called when the replay is complete. The stream goes live in the same turn. */
  onCaughtUp: () => void;
  /** Called if the next slot has been evicted. `slots` is the size of the gap. */
  onLagged: (slots: bigint) => void;
}>;

/** Only commitment statuses, as in Yellowstone: `createdBank` would make reconnecting clients emit the slot again. */
const commitmentsOf = ({ statuses }: SlotContent): readonly (readonly [RawSlot, Level])[] =>
  statuses.flatMap((status) => {
    const level = levelOfStatus(status.status);
    return level === undefined ? [] : [[status, level] as const];
  });

/** Replays slots to one stream, no faster than the client reads. Going live neither loses nor repeats updates. */
export class Replay implements ReplayTask {
  readonly #options: ReplayOptions;
  readonly #channel: Channel;
  readonly #member: Member;
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

  start(): void {
    this.#options.replays.schedule(this);
  }

  change(filters: Filters, level: Level): void {
    this.#member.replace(filters);
    this.#level = level;
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#options.replays.cancel(this);
  }

  runSlice(): boolean {
    if (this.#mustWait()) {
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

  /** Whether to wait for the client to read or for a pending block to be sent. */
  #mustWait(): boolean {
    const { sink, blocks, limits } = this.#options;
    return (sink.waitingBytes ?? 0) > limits.replayAheadBytes || blocks.hasPendingBlock(sink);
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      if (this.#mustWait()) this.#wait();
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
      // Statuses come first: the creation of the bank precedes the content.
      for (const status of content.statuses.slice(emittedCount ?? 0)) channel.emit(status);
      if (emittedCount === undefined && level === 0)
        for (const update of content.content) channel.emit(update);
    }
    this.#options.onCaughtUp();
  }
}
