import { blockTail } from '../../../protocol/geyser/encode/block.ts';
import type { RawBlock } from '../../../protocol/geyser/raw-update.ts';
import type { BlockChoice } from '../filters/block-choice.ts';
import type { GeyserSink } from '../geyser-sink.ts';
import { type BlockPart, type BlockTarget, OrderedSink, type OrderedSinkLimits } from './ordered-sink.ts';

export type BlockSchedulerLimits = OrderedSinkLimits &
  Readonly<{
    /** Maximum milliseconds per event loop turn spent on blocks; the first message is always sent. */
    blocksTimeSliceMs: number;
  }>;

/** Default limits of block scheduling. */
export const blockSchedulerDefaults: BlockSchedulerLimits = {
  blocksTimeSliceMs: 5,
  blocksWaitingMax: 64,
  behindBlocksMaxMessages: 250_000,
  behindBlocksMaxBytes: 64 * 1024 * 1024,
};

/** A stream and its block filters. */
export type BlockReader = Readonly<{
  sink: OrderedSink;
  choices: readonly Readonly<{ names: Uint8Array; choice: BlockChoice }>[];
}>;

/**
 * Sends blocks, which are megabytes for each selection of their parts: for a time slice per event loop turn,
 * one message to each waiting stream in order. A message is encoded once for all streams that are ready for
 * it, and not cached. Messages behind a block on a stream wait for it; other streams do not.
 */
export class BlockScheduler {
  readonly #limits: BlockSchedulerLimits;
  readonly #sinks = new WeakMap<GeyserSink, OrderedSink>();
  /** Streams that wait for blocks; the next one first. */
  readonly #queue = new Set<OrderedSink>();
  /** Scheduled continuation in the next turn; null for none. */
  #tick: NodeJS.Immediate | null = null;
  #remainingMs = 0;

  constructor(limits: Partial<BlockSchedulerLimits> = {}) {
    this.#limits = { ...blockSchedulerDefaults, ...limits };
  }

  /** The ordered sink of a stream. */
  ordered(sink: GeyserSink): OrderedSink {
    if (sink instanceof OrderedSink) return sink;
    const existing = this.#sinks.get(sink);
    if (existing !== undefined) return existing;
    const created = new OrderedSink(sink, this.#limits);
    this.#sinks.set(sink, created);
    return created;
  }

  /** Whether a block is pending on the stream. */
  hasPendingBlock(sink: GeyserSink): boolean {
    return this.#sinks.get(sink)?.hasPendingBlock === true;
  }

  /** The stream has ended or restarts elsewhere: discards its pending messages. */
  drop(sink: GeyserSink): void {
    this.#sinks.get(sink)?.drop();
  }

  /** Sends a block, now or in the following turns. */
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

/** Sends a part to all streams that are ready for it; those with older pending blocks get it later. */
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
