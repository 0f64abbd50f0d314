import type { Blockhash } from '../../solana/blockhash.ts';
import { SLOT_HASHES_MAX } from '../../solana/sysvars.ts';

/** What the ledger keeps of a recent frozen block in memory. */
export type RecentBlock = Readonly<{
  slot: number;
  blockhash: Blockhash;
  /** Unix seconds. */
  time: number;
}>;

/**
 * A blockhash may be used while at most this many blocks were made after its own.
 * Source: solana-clock, MAX_PROCESSING_AGE.
 */
export const BLOCKHASH_AGE_MAX = 150;
/** A blockhash is known, though of no use, for as many blocks again. Source: solana-clock, MAX_RECENT_BLOCKHASHES. */
export const BLOCKHASH_KNOWN_MAX = 300;
/**
 * What is simulated must be so much younger: on the way to a leader it grows older. Source: solana-clock,
 * MAX_TRANSACTION_FORWARDING_DELAY.
 */
export const FORWARDING_DELAY = 6;
/** The slot hashes as the oldest readable bank shows them, with room for banks that trail the tip. */
export const RECENT_BLOCKS_MAX = SLOT_HASHES_MAX + 512;

/** The last blocks of the one fork, by slot and by blockhash. Slots have no gaps. */
export class RecentBlocks {
  readonly #bySlot = new Map<number, RecentBlock>();
  readonly #byHash = new Map<Blockhash, number>();
  #tip = -1;

  /** The newest block. */
  get newest(): RecentBlock {
    return this.#bySlot.get(this.#tip) as RecentBlock;
  }

  /** Adds the block above the newest one. */
  push(block: RecentBlock): void {
    this.#bySlot.set(block.slot, block);
    this.#byHash.set(block.blockhash, block.slot);
    this.#tip = block.slot;
    const gone = this.#bySlot.get(block.slot - RECENT_BLOCKS_MAX);
    if (gone === undefined) return;
    this.#bySlot.delete(gone.slot);
    this.#byHash.delete(gone.blockhash);
  }

  at(slot: number): RecentBlock | undefined {
    return this.#bySlot.get(slot);
  }

  /**
   * Blocks made after a blockhash, as a reader at `slot` counts them.
   * @returns null when the reader does not know the hash.
   */
  ageOf(blockhash: Blockhash, slot: number): number | null {
    const own = this.#byHash.get(blockhash);
    return own === undefined || own > slot ? null : slot - own;
  }

  /** Up to `count` blocks from `slot` downwards, newest first. */
  downFrom(slot: number, count: number): RecentBlock[] {
    const blocks: RecentBlock[] = [];
    for (let at = slot; blocks.length < count; at--) {
      const block = this.#bySlot.get(at);
      if (block === undefined) break;
      blocks.push(block);
    }
    return blocks;
  }
}
