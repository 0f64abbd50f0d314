import { type Blockhash, blockhashBytes } from '../../../../src/solana/blockhash.ts';
import { SLOT_HASHES_MAX } from '../../../../src/solana/sysvars.ts';

/** In-memory data of a recent block. */
type RecentBlock = Readonly<{
  slot: number;
  blockhash: Blockhash;
  /** Bytes of the blockhash. */
  hash: Uint8Array;
}>;

/** Source: solana-clock, MAX_PROCESSING_AGE. */
export const BLOCKHASH_AGE_MAX = 150;
/** Source: solana-clock, MAX_RECENT_BLOCKHASHES. */
export const BLOCKHASH_KNOWN_MAX = 300;
/** Remaining blocks that simulations require of a blockhash. Source: solana-clock, MAX_TRANSACTION_FORWARDING_DELAY. */
export const FORWARDING_DELAY = 6;
/** Enough for the SlotHashes sysvar of the oldest readable bank. */
export const RECENT_BLOCKS_MAX = SLOT_HASHES_MAX + 512;

/** Recent blocks by slot and blockhash, without gaps. */
export class RecentBlocks {
  readonly #bySlot = new Map<number, RecentBlock>();
  readonly #byHash = new Map<Blockhash, number>();
  #tip = -1;

  get newest(): RecentBlock {
    return this.#bySlot.get(this.#tip) as RecentBlock;
  }

  push({ slot, blockhash }: Pick<RecentBlock, 'slot' | 'blockhash'>): void {
    const block = { slot, blockhash, hash: blockhashBytes(blockhash) };
    this.#bySlot.set(block.slot, block);
    this.#byHash.set(block.blockhash, block.slot);
    this.#tip = block.slot;
    const evicted = this.#bySlot.get(block.slot - RECENT_BLOCKS_MAX);
    if (evicted === undefined) return;
    this.#bySlot.delete(evicted.slot);
    this.#byHash.delete(evicted.blockhash);
  }

  at(slot: number): RecentBlock | undefined {
    return this.#bySlot.get(slot);
  }

  /**
   * Blocks after a blockhash, as seen at `slot`.
   * @returns null if unknown.
   */
  ageOf(blockhash: Blockhash, slot: number): number | null {
    const own = this.#byHash.get(blockhash);
    return own === undefined || own > slot ? null : slot - own;
  }

  /** Newest first. */
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
