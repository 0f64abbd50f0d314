import type { Commitment } from '../../protocol/commitment.ts';
import type { Slot } from '../../solana/units.ts';

export type SlotRateLimits = Readonly<{ lagMaxSlots: number; slotsPerSecondMax: number }>;

/** Typical distance of a commitment from the processed slot, used if the node does not report the commitment. */
const distances: Readonly<Record<Commitment, bigint>> = { processed: 0n, confirmed: 2n, finalized: 32n };

/** Slots reported by a node in responses and polls. Times are on the `performance.now()` clock. */
export class NodeSlots {
  processed: Slot | null = null;
  confirmed: Slot | null = null;
  finalized: Slot | null = null;
  /** Newest slot received as shreds; null if unknown. */
  received: Slot | null = null;
  /** When the processed slot last changed. */
  movedAt = Number.NEGATIVE_INFINITY;
  /** The slot jumped ahead implausibly fast. While other nodes advance, it is trusted only once they reach it. */
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

  /** Ignores older slots and implausible jumps: only polls may report them. */
  observe(commitment: Commitment, slot: Slot, now: number): void {
    if (this.#isJump(slot, now)) return;
    const current = this[commitment];
    if (current === null || slot >= current) this.#update(commitment, slot, now);
    // A confirmed or finalized slot has also been processed.
    if (commitment !== 'processed' && (this.processed === null || slot > this.processed)) {
      this.#update('processed', slot, now);
    }
  }

  /** Records a polled slot, which may be lower than before. */
  recordPoll(commitment: Commitment, slot: Slot, now: number): void {
    this.#update(commitment, slot, now);
    if (commitment !== 'processed') return;
    if (this.confirmed !== null && this.confirmed > slot) this.confirmed = null;
    if (this.finalized !== null && this.finalized > slot) this.finalized = null;
  }

  observedAt(commitment: Commitment): number {
    return this.#observedAt[commitment];
  }

  /** True if unknown. */
  isAtLeast(commitment: Commitment, slot: bigint): boolean {
    const current = this[commitment];
    if (current !== null) return current >= slot;
    return this.processed === null || this.processed - distances[commitment] >= slot;
  }

  /** Slots received as shreds but not replayed; null if unknown. */
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

  /** Whether the slot is higher than the node could have reached since its last report. */
  #isJump(slot: Slot, now: number): boolean {
    if (this.processed === null) return false;
    const { lagMaxSlots, slotsPerSecondMax } = this.#limits;
    const since = Math.ceil(((now - this.#observedAt.processed) / 1_000) * slotsPerSecondMax);
    return slot > this.processed + BigInt(lagMaxSlots) + BigInt(since);
  }
}
