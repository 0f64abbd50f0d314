import { blockTail } from '../../../protocol/geyser/encode/block.ts';
import type { RawBlock } from '../../../protocol/geyser/raw-update.ts';
import type { BlockChoice } from '../filters/block-choice.ts';
import type { GeyserSink } from '../geyser-sink.ts';
import { type BlockPart, type BlockTarget, OrderedSink, type OrderedSinkLimits } from './ordered-sink.ts';

export type BlockSchedulerLimits = OrderedSinkLimits &
  Readonly<{
    /** Milliseconds of one turn of the event loop that go into blocks; the first message is always told. */
    blocksTimeSliceMs: number;
  }>;

/** How blocks are told, and how much may wait behind them, when nothing else is said. */
export const blockSchedulerDefaults: BlockSchedulerLimits = {
  blocksTimeSliceMs: 5,
  blocksWaitingMax: 64,
  behindBlocksMaxMessages: 250_000,
  behindBlocksMaxBytes: 64 * 1024 * 1024,
};

/** A stream and its filters of blocks. */
export type BlockReader = Readonly<{
  sink: OrderedSink;
  choices: readonly Readonly<{ names: Uint8Array; choice: BlockChoice }>[];
}>;

/**
 * Tells blocks, which are megabytes for each choice of their parts: so long in a turn of the event loop and then on in
 * the next, a message to each stream that waits, in its turn. A message is encoded once for all whose turn it is, and
 * kept by nobody here. Whatever follows a block on a stream waits for it; other streams do not.
 */
export class BlockScheduler {
  readonly #limits: BlockSchedulerLimits;
  readonly #sinks = new WeakMap<GeyserSink, OrderedSink>();
  /** Who waits for blocks; whose turn comes next is first. */
  readonly #queue = new Set<OrderedSink>();
  /** The end of the turn that has been begun. */
  #tick: NodeJS.Immediate | null = null;
  #remainingMs = 0;

  constructor(limits: Partial<BlockSchedulerLimits> = {}) {
    this.#limits = { ...blockSchedulerDefaults, ...limits };
  }

  /** The way to a stream that keeps its order. */
  ordered(sink: GeyserSink): OrderedSink {
    if (sink instanceof OrderedSink) return sink;
    const existing = this.#sinks.get(sink);
    if (existing !== undefined) return existing;
    const created = new OrderedSink(sink, this.#limits);
    this.#sinks.set(sink, created);
    return created;
  }

  /** Whether a stream waits for a block. */
  hasPendingBlock(sink: GeyserSink): boolean {
    return this.#sinks.get(sink)?.hasPendingBlock === true;
  }

  /** A stream is over, or begins anew elsewhere: it is told nothing of what waits. */
  drop(sink: GeyserSink): void {
    this.#sinks.get(sink)?.drop();
  }

  /** Tells a block, now or in the turns that follow. */
  emit(block: RawBlock, readers: readonly BlockReader[]): void {
    const parts = new Map<string, BlockPart>();
    for (const { sink, choices } of readers) {
      const messages = choices.map(({ names, choice }) => {
        const part = parts.get(choice.key) ?? { block, choice, targets: [] };
        parts.set(choice.key, part);
        return { part, names, isSent: false };
      });
      const pendingBlock = sink.expect(messages);
      if (pendingBlock === null) continue;
      for (const message of messages) message.part.targets.push({ sink, pendingBlock, message });
      this.#queue.add(sink);
    }
    if (this.#queue.size > 0) this.#process();
  }

  #process(): void {
    this.#tick ??= this.#startTick();
    while (this.#remainingMs > 0 && this.#queue.size > 0) {
      const start = performance.now();
      this.#emitNext();
      this.#remainingMs -= performance.now() - start;
    }
  }

  #startTick(): NodeJS.Immediate {
    this.#remainingMs = Math.max(this.#limits.blocksTimeSliceMs, Number.MIN_VALUE);
    return setImmediate(() => {
      this.#tick = null;
      if (this.#queue.size > 0) this.#process();
    });
  }

  #emitNext(): void {
    const [sink] = this.#queue;
    if (sink === undefined) return;
    this.#queue.delete(sink);
    const message = sink.next();
    if (message === null) return;
    emitPart(message.part);
    if (sink.hasPendingBlock) this.#queue.add(sink);
  }
}

/** Tells a part to all whose turn it is; whoever has older blocks to come is told it later. */
function emitPart(part: BlockPart): void {
  const tail = blockTail(part.block, part.choice.of(part.block));
  const deferred: BlockTarget[] = [];
  for (const target of part.targets) {
    const { sink, pendingBlock, message } = target;
    if (sink.isNext(pendingBlock)) sink.deliver(pendingBlock, message, tail);
    else deferred.push(target);
  }
  part.targets = deferred;
}
