import type { Commitment } from '../../protocol/commitment.ts';
import type { Slot } from '../../solana/units.ts';

/** How far ahead of itself a node may be from one word to the next. */
export type SlotRateLimits = Readonly<{ lagMaxSlots: number; slotsPerSecondMax: number }>;

/** How far a commitment is behind the processed slot, about; used where a node told nothing of it. */
const distances: Readonly<Record<Commitment, bigint>> = { processed: 0n, confirmed: 2n, finalized: 32n };

/** What a node told of its slots, in live answers and polls. Times are `performance.now()`. */
export class NodeSlots {
  processed: Slot | null = null;
  confirmed: Slot | null = null;
  finalized: Slot | null = null;
  /** The newest slot of which it has shreds; null where it does not tell. */
  received: Slot | null = null;
  /** When its processed slot was last another than before. */
  movedAt = Number.NEGATIVE_INFINITY;
  /** It came ahead faster than any chain goes: believed only where others have come as far. */
  isSuspect = false;
  readonly #observedAt = {
    processed: Number.NEGATIVE_INFINITY,
    confirmed: Number.NEGATIVE_INFINITY,
    finalized: Number.NEGATIVE_INFINITY,
  };
  readonly #limits: SlotRateLimits;

  constructor(limits: SlotRateLimits) {
    this.#limits = limits;
  }

  /**
   * An answer stood on this slot. What is older than what is known is no news, and what no chain comes to so fast is
   * for a poll to say: one glitch of one answer must not pass for where the node is.
   */
  observe(commitment: Commitment, slot: Slot, now: number): void {
    if (this.#isJump(slot, now)) return;
    const current = this[commitment];
    if (current === null || slot >= current) this.#update(commitment, slot, now);
    // What is confirmed was processed before.
    if (commitment !== 'processed' && (this.processed === null || slot > this.processed)) {
      this.#update('processed', slot, now);
    }
  }

  /** It was asked for its slot: that is where it is, also when it was further before. */
  recordPoll(commitment: Commitment, slot: Slot, now: number): void {
    this.#update(commitment, slot, now);
    if (commitment !== 'processed') return;
    if (this.confirmed !== null && this.confirmed > slot) this.confirmed = null;
    if (this.finalized !== null && this.finalized > slot) this.finalized = null;
  }

  /** When it last told of the slot of this commitment. */
  observedAt(commitment: Commitment): number {
    return this.#observedAt[commitment];
  }

  /** Whether it has come to a slot at a commitment, as far as is known; where nothing is, it is believed to. */
  isAtLeast(commitment: Commitment, slot: bigint): boolean {
    const current = this[commitment];
    if (current !== null) return current >= slot;
    return this.processed === null || this.processed - distances[commitment] >= slot;
  }

  /** Slots of which it has shreds that it has not replayed; null where it does not tell. */
  get unreplayed(): bigint | null {
    if (this.received === null || this.processed === null) return null;
    return this.received > this.processed ? this.received - this.processed : 0n;
  }

  #update(commitment: Commitment, slot: Slot, now: number): void {
    if (commitment === 'processed') this.#onMove(slot, now);
    this[commitment] = slot;
    this.#observedAt[commitment] = now;
  }

  #onMove(slot: Slot, now: number): void {
    if (this.processed === slot) return;
    if (this.#isJump(slot, now)) this.isSuspect = true;
    this.movedAt = now;
  }

  /** Whether it is beyond the newest slot that it can have come to since it last told. */
  #isJump(slot: Slot, now: number): boolean {
    if (this.processed === null) return false;
    const { lagMaxSlots, slotsPerSecondMax } = this.#limits;
    const since = Math.ceil(((now - this.#observedAt.processed) / 1_000) * slotsPerSecondMax);
    return slot > this.processed + BigInt(lagMaxSlots) + BigInt(since);
  }
}
