import { blockTail } from '../../../protocol/geyser/encode/block.ts';
import type { RawBlock } from '../../../protocol/geyser/raw-update.ts';
import type { BlockSelector } from '../filters/block-selector.ts';
import { type GeyserHubOptions, geyserHubOptions } from '../geyser-hub-options.ts';
import type { GeyserSink, StreamBacklog } from '../geyser-sink.ts';

type PendingMessage = { readonly part: BlockPart; readonly names: Uint8Array; isSent: boolean };

/** Part of a block. Streams with the same selection share its encoded bytes. */
type BlockPart = { readonly block: RawBlock; readonly selector: BlockSelector; targets: BlockTarget[] };

type BlockTarget = Readonly<{
  sink: OrderedSink;
  pendingBlock: PendingBlock;
  message: PendingMessage;
}>;

type PendingBlock = {
  readonly messages: readonly PendingMessage[];
  remaining: number;
  /** Names and tails of the messages queued behind the block, alternating. */
  readonly after: Uint8Array[];
};

/** Keeps a stream's messages in order: while a block is pending, later messages are queued behind it. */
class OrderedSink implements GeyserSink {
  readonly #sink: GeyserSink;
  readonly #limits: BlockSchedulerLimits;
  readonly #pendingBlocks: PendingBlock[] = [];
  #bufferedMessages = 0;
  #bufferedBytes = 0;

  constructor(sink: GeyserSink, limits: BlockSchedulerLimits) {
    this.#sink = sink;
    this.#limits = limits;
  }

  get hasPendingBlock(): boolean {
    return this.#pendingBlocks.length > 0;
  }

  push(names: Uint8Array, tail: Uint8Array): void {
    const pendingBlock = this.#pendingBlocks.at(-1);
    if (pendingBlock === undefined) {
      this.#sink.push(names, tail);
      return;
    }
    const { behindBlocksMaxMessages, behindBlocksMaxBytes } = this.#limits;
    if (this.#bufferedMessages >= behindBlocksMaxMessages || this.#bufferedBytes > behindBlocksMaxBytes) {
      this.#lagWithMore({ messages: 1, bytes: names.length + tail.length });
      return;
    }
    pendingBlock.after.push(names, tail);
    this.#bufferedMessages += 1;
    this.#bufferedBytes += names.length + tail.length;
  }

  end(status: Parameters<GeyserSink['end']>[0]): void {
    this.drop();
    this.#sink.end(status);
  }

  lag(backlog: StreamBacklog): void {
    this.drop();
    this.#sink.lag(backlog);
  }

  /** Adds a pending block, behind which later messages are queued. @returns null if doing so ended the stream. */
  expect(messages: readonly PendingMessage[]): PendingBlock | null {
    if (this.#pendingBlocks.length >= this.#limits.blocksWaitingMax) {
      this.#lagWithMore({ messages: messages.length, bytes: 0, blocks: 1 });
      return null;
    }
    const pendingBlock: PendingBlock = { messages, remaining: messages.length, after: [] };
    this.#pendingBlocks.push(pendingBlock);
    return pendingBlock;
  }

  isNext(pendingBlock: PendingBlock): boolean {
    return this.#pendingBlocks[0] === pendingBlock;
  }

  next(): PendingMessage | null {
    return this.#pendingBlocks[0]?.messages.find(({ isSent }) => !isSent) ?? null;
  }

  deliver(pendingBlock: PendingBlock, message: PendingMessage, tail: Uint8Array): void {
    message.isSent = true;
    pendingBlock.remaining -= 1;
    this.#sink.push(message.names, tail);
    if (pendingBlock.remaining > 0 || !this.isNext(pendingBlock)) return;
    this.#pendingBlocks.shift();
    this.#release(pendingBlock);
  }

  drop(): void {
    this.#pendingBlocks.length = 0;
    this.#bufferedMessages = 0;
    this.#bufferedBytes = 0;
  }

  /** Ends a stream because a new message would exceed its backlog limits. */
  #lagWithMore({ messages, bytes, blocks = 0 }: StreamBacklog): void {
    const { waitingMessages = 0, waitingBytes = 0 } = this.#sink;
    const blockMessages = this.#pendingBlocks.reduce((sum, { remaining }) => sum + remaining, 0);
    this.lag({
      messages: waitingMessages + blockMessages + this.#bufferedMessages + messages,
      bytes: waitingBytes + this.#bufferedBytes + bytes,
      blocks: this.#pendingBlocks.length + blocks,
    });
  }

  #release({ after }: PendingBlock): void {
    for (let i = 0; i < after.length; i += 2) {
      const [names, tail] = [after[i] as Uint8Array, after[i + 1] as Uint8Array];
      this.#bufferedMessages -= 1;
      this.#bufferedBytes -= names.length + tail.length;
      this.#sink.push(names, tail);
    }
  }
}

export type BlockSchedulerLimits = Pick<
  GeyserHubOptions,
  'blocksTimeSliceMs' | 'blocksWaitingMax' | 'behindBlocksMaxMessages' | 'behindBlocksMaxBytes'
>;

export type BlockReader = Readonly<{
  sink: OrderedSink;
  selectors: readonly Readonly<{ names: Uint8Array; selector: BlockSelector }>[];
}>;

/**
 * Sends blocks for one time slice per event loop turn, one message at a time, round-robin over the waiting streams. A
 * message is encoded once for all streams that are ready for it. It is not cached, because each selection of block
 * parts takes megabytes. A pending block delays only the messages behind it on the same stream.
 */
export class BlockScheduler {
  readonly #limits: BlockSchedulerLimits;
  readonly #sinks = new WeakMap<GeyserSink, OrderedSink>();
  readonly #queue = new Set<OrderedSink>();
  #tick: NodeJS.Immediate | null = null;
  #remainingMs = 0;

  constructor(limits: Partial<BlockSchedulerLimits> = {}) {
    this.#limits = { ...geyserHubOptions, ...limits };
  }

  ordered(sink: GeyserSink): OrderedSink {
    if (sink instanceof OrderedSink) return sink;
    const ordered = this.#sinks.get(sink) ?? new OrderedSink(sink, this.#limits);
    this.#sinks.set(sink, ordered);
    return ordered;
  }

  hasPendingBlock(sink: GeyserSink): boolean {
    return this.#sinks.get(sink)?.hasPendingBlock === true;
  }

  drop(sink: GeyserSink): void {
    this.#sinks.get(sink)?.drop();
  }

  emit(block: RawBlock, readers: readonly BlockReader[]): void {
    const parts = new Map<string, BlockPart>();
    for (const { sink, selectors } of readers) {
      const messages = selectors.map(({ names, selector }) => {
        const part = parts.get(selector.key) ?? { block, selector, targets: [] };
        parts.set(selector.key, part);
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

/** Encodes a part and sends it. Streams with older pending blocks get the part later. */
function emitPart(part: BlockPart): void {
  const tail = blockTail(part.block, part.selector.select(part.block));
  const deferred: BlockTarget[] = [];
  for (const target of part.targets) {
    const { sink, pendingBlock, message } = target;
    if (sink.isNext(pendingBlock)) sink.deliver(pendingBlock, message, tail);
    else deferred.push(target);
  }
  part.targets = deferred;
}
