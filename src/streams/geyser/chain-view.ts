import type { Commitment } from '../../protocol/commitment.ts';
import type { RawBlockMeta } from '../../protocol/geyser/raw-update.ts';
import type { Slot } from '../../solana/units.ts';
import { type Level, levelOf } from './slot-content.ts';

/** How long a blockhash may be used. Source: Agave, `MAX_PROCESSING_AGE`. */
export const BLOCKHASH_AGE_MAX = 150n;
/** Blocks that are remembered, also of forks: more than a blockhash lives. */
const BLOCKS_MAX = 400;

/** A block as callers ask for it. */
type ChainBlock = Readonly<{ slot: Slot; blockhash: string; blockHeight: bigint }>;

type TrackedBlock = ChainBlock & { level: Level | -1 };

/** What the newest blocks are, for the calls that ask and do not stream. */
export class ChainView {
  readonly #blocks = new Map<Slot, TrackedBlock>();
  readonly #byHash = new Map<string, TrackedBlock>();
  readonly #newestSlot: [Slot | null, Slot | null, Slot | null] = [null, null, null];
  readonly #newestBlock: [TrackedBlock | null, TrackedBlock | null, TrackedBlock | null] = [null, null, null];

  /**
   * A block was told, in place of one that an earlier version of the slot had; a node that does not tell its height is
   * of no use here.
   */
  add({ slot, blockhash, blockHeight }: RawBlockMeta): void {
    if (blockHeight === null) return;
    this.#remove(this.#blocks.get(slot));
    const block: TrackedBlock = { slot, blockhash, blockHeight, level: -1 };
    this.#blocks.set(slot, block);
    this.#byHash.set(blockhash, block);
    if (this.#blocks.size > BLOCKS_MAX) this.#remove(this.#blocks.values().next().value);
  }

  /** A slot has come so far, and with it those before it. */
  advance(slot: Slot, level: Level): void {
    const newest = this.#newestSlot[level];
    if (newest === null || slot > newest) this.#newestSlot[level] = slot;
    const block = this.#blocks.get(slot);
    if (block === undefined) return;
    if (block.level < level) block.level = level;
    const newestBlock = this.#newestBlock[level];
    if (newestBlock === null || slot >= newestBlock.slot) this.#newestBlock[level] = block;
  }

  /** null before any was told. */
  slot(commitment: Commitment): Slot | null {
    return this.#newestSlot[levelOf(commitment)];
  }

  /** null before any was told. */
  block(commitment: Commitment): ChainBlock | null {
    return this.#newestBlock[levelOf(commitment)];
  }

  /** Whether a transaction with the blockhash may still land; null while too little is known to say no. */
  isBlockhashValid(blockhash: string, commitment: Commitment): boolean | null {
    const level = levelOf(commitment);
    const newest = this.#newestBlock[level];
    if (newest === null) return null;
    const tracked = this.#byHash.get(blockhash);
    if (tracked !== undefined && tracked.level >= level) {
      return newest.blockHeight - tracked.blockHeight <= BLOCKHASH_AGE_MAX;
    }
    return this.#hasBlocksSince(newest.blockHeight - BLOCKHASH_AGE_MAX) ? false : null;
  }

  #hasBlocksSince(blockHeight: bigint): boolean {
    const [first] = this.#blocks.values();
    return first !== undefined && (first.blockHeight <= blockHeight || first.blockHeight <= 1n);
  }

  #remove(block: TrackedBlock | undefined): void {
    if (block === undefined) return;
    this.#blocks.delete(block.slot);
    if (this.#byHash.get(block.blockhash) === block) this.#byHash.delete(block.blockhash);
  }
}
