import type { RawBlock } from '../../../protocol/geyser/raw-update.ts';
import type { BlockChoice } from '../filters/block-choice.ts';
import type { GeyserSink, StreamBacklog } from '../geyser-sink.ts';

/** A pending block message of a stream. */
type PendingMessage = { readonly part: BlockPart; readonly names: Uint8Array; isSent: boolean };

/**
 * A selected part of a block and the streams that wait for it. Streams with the same selection share its
 * bytes.
 */
export type BlockPart = {
  readonly block: RawBlock;
  readonly choice: BlockChoice;
  targets: BlockTarget[];
};

export type BlockTarget = Readonly<{
  sink: OrderedSink;
  pendingBlock: PendingBlock;
  message: PendingMessage;
}>;

/** A block that is not sent completely yet, and the messages queued behind it. */
type PendingBlock = {
  readonly messages: readonly PendingMessage[];
  /** Number of block messages not sent yet. */
  remaining: number;
  /** Alternating names and tails of the queued messages. */
  readonly after: Uint8Array[];
};

export type OrderedSinkLimits = Readonly<{
  /** Maximum incomplete blocks per stream; one more ends the stream. */
  blocksWaitingMax: number;
  /** Maximum messages queued behind a block per stream; one more ends the stream. */
  behindBlocksMaxMessages: number;
  /** Maximum bytes of these messages; above it, the next message ends the stream. */
  behindBlocksMaxBytes: number;
}>;

/**
 * Keeps the messages of a stream in order while its blocks are sent later than the messages that follow them.
 */
export class OrderedSink implements GeyserSink {
  readonly #sink: GeyserSink;
  readonly #limits: OrderedSinkLimits;
  readonly #pendingBlocks: PendingBlock[] = [];
  #bufferedMessages = 0;
  #bufferedBytes = 0;

  constructor(sink: GeyserSink, limits: OrderedSinkLimits) {
    this.#sink = sink;
    this.#limits = limits;
  }

  /** Whether a block is not sent completely yet. */
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

  /** Adds a block; messages pushed meanwhile are queued behind it. @returns null if the stream was ended. */
  expect(messages: readonly PendingMessage[]): PendingBlock | null {
    if (this.#pendingBlocks.length >= this.#limits.blocksWaitingMax) {
      this.#lagWithMore({ messages: messages.length, bytes: 0, blocks: 1 });
      return null;
    }
    const pendingBlock: PendingBlock = { messages, remaining: messages.length, after: [] };
    this.#pendingBlocks.push(pendingBlock);
    return pendingBlock;
  }

  /** Whether a block is the next to be sent. */
  isNext(pendingBlock: PendingBlock): boolean {
    return this.#pendingBlocks[0] === pendingBlock;
  }

  /** The next block message to send; null for none. */
  next(): PendingMessage | null {
    return this.#pendingBlocks[0]?.messages.find(({ isSent }) => !isSent) ?? null;
  }

  /** Sends one message of the next block. */
  deliver(pendingBlock: PendingBlock, message: PendingMessage, tail: Uint8Array): void {
    message.isSent = true;
    pendingBlock.remaining -= 1;
    this.#sink.push(message.names, tail);
    if (pendingBlock.remaining > 0 || !this.isNext(pendingBlock)) return;
    this.#pendingBlocks.shift();
    this.#release(pendingBlock);
  }

  /** Discards everything pending. */
  drop(): void {
    this.#pendingBlocks.length = 0;
    this.#bufferedMessages = 0;
    this.#bufferedBytes = 0;
  }

  /** Ends a stream whose backlog exceeds a limit, counting the new message. */
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
