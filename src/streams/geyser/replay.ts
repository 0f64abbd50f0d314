import type { Slot } from '../../ledger/units.ts';
import type { RawSlot } from '../../protocol/geyser/raw-update.ts';
import type { BlockTurns } from './channel/block-turns.ts';
import { Channel, type Member } from './channel.ts';
import type { Filters } from './filters/compile.ts';
import type { GeyserSink } from './geyser-sink.ts';
import type { HeldContent } from './held-content.ts';
import { type Level, levelOfStatus } from './level.ts';
import type { ReplayTurns, TurnTaker } from './replay-turns.ts';
import type { SlotContent } from './slot-content.ts';

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
  held: HeldContent;
  /** Of the one stream that is told. */
  sink: GeyserSink;
  limits: ReplayLimits;
  blocks: BlockTurns;
  /** Of all replays together. */
  replays: ReplayTurns;
  /** All of the past was told: the stream hears what comes from now on, in the same turn. */
  joined: () => void;
  /** What was to be told next is held no more; so many slots are between it and what is. */
  lagged: (slots: bigint) => void;
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
export class Replay implements TurnTaker {
  readonly #options: ReplayOptions;
  /** Leads to the one stream alone. */
  readonly #channel: Channel;
  readonly #member: Member;
  /** By slot, how many of its statuses were told. */
  readonly #told = new Map<Slot, number>();
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
    this.#options.replays.ask(this);
  }

  /** Something else is wanted of what was not told yet. */
  change(filters: Filters, level: Level): void {
    this.#member.replace(filters);
    this.#level = level;
  }

  /** Harmless when it is over. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#options.replays.leave(this);
  }

  /** Tells the next slot. @returns whether it is ready for another. */
  takeTurn(): boolean {
    if (this.#hasEnough()) {
      this.#wait();
      return false;
    }
    const { held, lagged } = this.#options;
    const first = held.firstAvailable();
    if (first !== null && first > this.#next) {
      lagged(first - this.#next);
      return false;
    }
    const [content] = held.from(this.#next).filter(({ reached }) => reached >= this.#level);
    if (content === undefined) this.#join();
    else this.#tellSlot(content);
    return content !== undefined;
  }

  /** Whether the client has still to take what it was told, or a block is not told whole. */
  #hasEnough(): boolean {
    const { sink, blocks, limits } = this.#options;
    return (sink.waitingBytes ?? 0) > limits.replayAheadBytes || blocks.isHolding(sink);
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      if (this.#hasEnough()) this.#wait();
      else this.#options.replays.ask(this);
    }, this.#options.limits.replayPauseMs);
  }

  #tellSlot(content: SlotContent): void {
    const [level, channel] = [this.#level, this.#channel];
    const { statuses, meta, slot } = content;
    const commitments = commitmentsOf(content);
    for (const [status, at] of commitments) if (at < level) channel.tell(status);
    for (const update of level === 0 ? content.content : content.settled()) channel.tell(update);
    const block = meta === null ? null : content.block(meta.createdAt);
    if (block !== null) channel.tell(block);
    if (meta !== null) channel.tell(meta);
    for (const [status, at] of commitments) if (at >= level) channel.tell(status);
    this.#told.set(slot, statuses.length);
    this.#next = (slot + 1n) as Slot;
  }

  #join(): void {
    const { held, from } = this.#options;
    const [level, channel] = [this.#level, this.#channel];
    for (const content of held.from(from)) {
      const told = this.#told.get(content.slot);
      if (told === undefined && content.reached >= level) {
        this.#tellSlot(content);
        continue;
      }
      // That its bank was created comes before what happened in it.
      for (const status of content.statuses.slice(told ?? 0)) channel.tell(status);
      if (told === undefined && level === 0) for (const update of content.content) channel.tell(update);
    }
    this.#options.joined();
  }
}
