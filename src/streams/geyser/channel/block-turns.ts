import { blockTail } from '../../../protocol/geyser/encode/block.ts';
import type { RawBlock } from '../../../protocol/geyser/raw-update.ts';
import type { BlockChoice } from '../filters/block-choice.ts';
import type { GeyserSink } from '../geyser-sink.ts';
import { type BlockPart, type BlockTarget, OrderedSink, type OrderedSinkLimits } from './ordered-sink.ts';

export type BlockTurnsLimits = OrderedSinkLimits &
  Readonly<{
    /** Milliseconds of one turn of the event loop that go into blocks; the first message is always told. */
    blocksTurnMs: number;
  }>;

/** How blocks are told, and how much may wait behind them, when nothing else is said. */
export const blockTurnsDefaults: BlockTurnsLimits = {
  blocksTurnMs: 5,
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
export class BlockTurns {
  readonly #limits: BlockTurnsLimits;
  readonly #sinks = new WeakMap<GeyserSink, OrderedSink>();
  /** Who waits for blocks; whose turn comes next is first. */
  readonly #line = new Set<OrderedSink>();
  /** The end of the turn that has been begun. */
  #turn: NodeJS.Immediate | null = null;
  #leftMs = 0;

  constructor(limits: Partial<BlockTurnsLimits> = {}) {
    this.#limits = { ...blockTurnsDefaults, ...limits };
  }

  /** The way to a stream that keeps its order. */
  ordered(sink: GeyserSink): OrderedSink {
    if (sink instanceof OrderedSink) return sink;
    const known = this.#sinks.get(sink);
    if (known !== undefined) return known;
    const made = new OrderedSink(sink, this.#limits);
    this.#sinks.set(sink, made);
    return made;
  }

  /** Whether a stream waits for a block. */
  isHolding(sink: GeyserSink): boolean {
    return this.#sinks.get(sink)?.isHolding === true;
  }

  /** A stream is over, or begins anew elsewhere: it is told nothing of what waits. */
  drop(sink: GeyserSink): void {
    this.#sinks.get(sink)?.drop();
  }

  /** Tells a block, now or in the turns that follow. */
  tell(block: RawBlock, readers: readonly BlockReader[]): void {
    const parts = new Map<string, BlockPart>();
    for (const { sink, choices } of readers) {
      const waits = choices.map(({ names, choice }) => {
        const part = parts.get(choice.key) ?? { block, choice, targets: [] };
        parts.set(choice.key, part);
        return { part, names, isTold: false };
      });
      const hold = sink.expect(waits);
      if (hold === null) continue;
      for (const awaited of waits) awaited.part.targets.push({ sink, hold, awaited });
      this.#line.add(sink);
    }
    if (this.#line.size > 0) this.#goOn();
  }

  #goOn(): void {
    this.#turn ??= this.#beginTurn();
    while (this.#leftMs > 0 && this.#line.size > 0) {
      const start = performance.now();
      this.#tellNext();
      this.#leftMs -= performance.now() - start;
    }
  }

  #beginTurn(): NodeJS.Immediate {
    this.#leftMs = Math.max(this.#limits.blocksTurnMs, Number.MIN_VALUE);
    return setImmediate(() => {
      this.#turn = null;
      if (this.#line.size > 0) this.#goOn();
    });
  }

  #tellNext(): void {
    const [sink] = this.#line;
    if (sink === undefined) return;
    this.#line.delete(sink);
    const awaited = sink.next();
    if (awaited === null) return;
    tellPart(awaited.part);
    if (sink.isHolding) this.#line.add(sink);
  }
}

/** Tells a part to all whose turn it is; whoever has older blocks to come is told it later. */
function tellPart(part: BlockPart): void {
  const tail = blockTail(part.block, part.choice.of(part.block));
  const later: BlockTarget[] = [];
  for (const target of part.targets) {
    const { sink, hold, awaited } = target;
    if (sink.isNext(hold)) sink.deliver(hold, awaited, tail);
    else later.push(target);
  }
  part.targets = later;
}
