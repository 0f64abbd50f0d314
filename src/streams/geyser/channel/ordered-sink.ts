import type { RawBlock } from '../../../protocol/geyser/raw-update.ts';
import type { BlockChoice } from '../filters/block-choice.ts';
import type { Behind, GeyserSink } from '../geyser-sink.ts';

/** A message of a block that a stream waits for. */
export type Awaited = { readonly part: BlockPart; readonly names: Uint8Array; isTold: boolean };

/** A part of a block that was chosen, and who waits for it: streams that choose the same share its bytes. */
export type BlockPart = {
  readonly block: RawBlock;
  readonly choice: BlockChoice;
  targets: BlockTarget[];
};

export type BlockTarget = Readonly<{ sink: OrderedSink; hold: Hold; awaited: Awaited }>;

/** A block that is not told whole yet, and what comes after it on the stream. */
export type Hold = {
  readonly awaited: readonly Awaited[];
  /** Messages of the block that are still to come. */
  left: number;
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
  readonly #holds: Hold[] = [];
  #heldMessages = 0;
  #heldBytes = 0;

  constructor(sink: GeyserSink, limits: OrderedSinkLimits) {
    this.#sink = sink;
    this.#limits = limits;
  }

  /** Whether a block is not told whole yet. */
  get isHolding(): boolean {
    return this.#holds.length > 0;
  }

  push(names: Uint8Array, tail: Uint8Array): void {
    const hold = this.#holds.at(-1);
    if (hold === undefined) {
      this.#sink.push(names, tail);
      return;
    }
    const { behindBlocksMaxMessages, behindBlocksMaxBytes } = this.#limits;
    if (this.#heldMessages >= behindBlocksMaxMessages || this.#heldBytes > behindBlocksMaxBytes) {
      this.#lagWith({ messages: 1, bytes: names.length + tail.length });
      return;
    }
    hold.after.push(names, tail);
    this.#heldMessages += 1;
    this.#heldBytes += names.length + tail.length;
  }

  end(status: Parameters<GeyserSink['end']>[0]): void {
    this.drop();
    this.#sink.end(status);
  }

  lag(behind: Behind): void {
    this.drop();
    this.#sink.lag(behind);
  }

  /** A block comes; what is pushed meanwhile waits for the last of its messages. @returns null when it is cut. */
  expect(awaited: readonly Awaited[]): Hold | null {
    if (this.#holds.length >= this.#limits.blocksWaitingMax) {
      this.#lagWith({ messages: awaited.length, bytes: 0, blocks: 1 });
      return null;
    }
    const hold: Hold = { awaited, left: awaited.length, after: [] };
    this.#holds.push(hold);
    return hold;
  }

  /** Whether a block's turn has come. */
  isNext(hold: Hold): boolean {
    return this.#holds[0] === hold;
  }

  /** What it waits for next; null when it waits for nothing. */
  next(): Awaited | null {
    return this.#holds[0]?.awaited.find(({ isTold }) => !isTold) ?? null;
  }

  /** One message of the block whose turn has come. */
  deliver(hold: Hold, awaited: Awaited, tail: Uint8Array): void {
    awaited.isTold = true;
    hold.left -= 1;
    this.#sink.push(awaited.names, tail);
    if (hold.left > 0 || !this.isNext(hold)) return;
    this.#holds.shift();
    this.#release(hold);
  }

  /** Nothing that waits is told any more. */
  drop(): void {
    this.#holds.length = 0;
    this.#heldMessages = 0;
    this.#heldBytes = 0;
  }

  /** Ends a stream for which too much waits, with what came now. */
  #lagWith({ messages, bytes, blocks = 0 }: Behind): void {
    const { waitingMessages = 0, waitingBytes = 0 } = this.#sink;
    const ofBlocks = this.#holds.reduce((sum, { left }) => sum + left, 0);
    this.lag({
      messages: waitingMessages + ofBlocks + this.#heldMessages + messages,
      bytes: waitingBytes + this.#heldBytes + bytes,
      blocks: this.#holds.length + blocks,
    });
  }

  #release({ after }: Hold): void {
    for (let i = 0; i < after.length; i += 2) {
      const [names, tail] = [after[i] as Uint8Array, after[i + 1] as Uint8Array];
      this.#heldMessages -= 1;
      this.#heldBytes -= names.length + tail.length;
      this.#sink.push(names, tail);
    }
  }
}
