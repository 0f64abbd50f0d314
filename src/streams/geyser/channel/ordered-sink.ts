import type { RawBlock } from '../../../protocol/geyser/raw-update.ts';
import type { BlockChoice } from '../filters/block-choice.ts';
import type { GeyserSink, StreamBacklog } from '../geyser-sink.ts';

/** A message of a block that a stream waits for. */
type PendingMessage = { readonly part: BlockPart; readonly names: Uint8Array; isSent: boolean };

/** A part of a block that was chosen, and who waits for it: streams that choose the same share its bytes. */
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

/** A block that is not told whole yet, and what comes after it on the stream. */
type PendingBlock = {
  readonly messages: readonly PendingMessage[];
  /** Messages of the block that are still to come. */
  remaining: number;
  /** Names and tail of each message, in turns. */
  readonly after: Uint8Array[];
};

export type OrderedSinkLimits = Readonly<{
  /** Blocks that may wait to be told whole on one stream; with another it is cut. */
  blocksWaitingMax: number;
  /** Messages that may wait behind a block on one stream; with another it is cut. */
  behindBlocksMaxMessages: number;
  /** Bytes of them; when there are more and another message comes, the stream is cut. */
  behindBlocksMaxBytes: number;
}>;

/** Keeps the order of a stream whose blocks are told later than what follows them. */
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

  /** Whether a block is not told whole yet. */
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

  /** A block comes; what is pushed meanwhile waits for the last of its messages. @returns null when it is cut. */
  expect(messages: readonly PendingMessage[]): PendingBlock | null {
    if (this.#pendingBlocks.length >= this.#limits.blocksWaitingMax) {
      this.#lagWithMore({ messages: messages.length, bytes: 0, blocks: 1 });
      return null;
    }
    const pendingBlock: PendingBlock = { messages, remaining: messages.length, after: [] };
    this.#pendingBlocks.push(pendingBlock);
    return pendingBlock;
  }

  /** Whether a block's turn has come. */
  isNext(pendingBlock: PendingBlock): boolean {
    return this.#pendingBlocks[0] === pendingBlock;
  }

  /** What it waits for next; null when it waits for nothing. */
  next(): PendingMessage | null {
    return this.#pendingBlocks[0]?.messages.find(({ isSent }) => !isSent) ?? null;
  }

  /** One message of the block whose turn has come. */
  deliver(pendingBlock: PendingBlock, message: PendingMessage, tail: Uint8Array): void {
    message.isSent = true;
    pendingBlock.remaining -= 1;
    this.#sink.push(message.names, tail);
    if (pendingBlock.remaining > 0 || !this.isNext(pendingBlock)) return;
    this.#pendingBlocks.shift();
    this.#release(pendingBlock);
  }

  /** Nothing that waits is told any more. */
  drop(): void {
    this.#pendingBlocks.length = 0;
    this.#bufferedMessages = 0;
    this.#bufferedBytes = 0;
  }

  /** Ends a stream for which too much waits, with what came now. */
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
