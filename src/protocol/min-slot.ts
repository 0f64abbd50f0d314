import { type Slot, slot } from '../solana/units.ts';
import type { Commitment } from './commitment.ts';

/** Order in `slots`. */
const commitments = ['processed', 'confirmed', 'finalized'] as const satisfies readonly Commitment[];
const ZERO_SLOT = slot(0n);

/** Newest observed slot per commitment. */
class MinSlotByCommitment {
  #processed: Slot = slot(0n);
  #confirmed: Slot = slot(0n);
  #finalized: Slot = slot(0n);

  /** Minimum slot of a response at the commitment. */
  at(commitment: Commitment): Slot {
    if (commitment === 'processed') return this.#processed;
    return commitment === 'confirmed' ? this.#confirmed : this.#finalized;
  }

  /** Records the slot of a forwarded response. */
  raise(commitment: Commitment, observed: Slot): void {
    if (observed > this.#processed) this.#processed = observed;
    if (commitment === 'processed') return;
    if (observed > this.#confirmed) this.#confirmed = observed;
    if (commitment === 'finalized' && observed > this.#finalized) this.#finalized = observed;
  }
}

/**
 * Minimum slots of a session: a response must not be older than what the session has seen. A response raises
 * the minimum of its own commitment and of weaker ones.
 */
export class MinSlot extends MinSlotByCommitment {
  /** Block heights, for responses without a slot. */
  readonly heights: MinSlotByCommitment = new MinSlotByCommitment();
  /** null: only this process serves the session. */
  readonly shared: SharedMinSlot | null;

  constructor(shared: SharedMinSlot | null = null) {
    super();
    this.shared = shared;
  }

  /** All values in a fixed order. */
  get slots(): readonly Slot[] {
    return [this, this.heights].flatMap((minSlot) => commitments.map((commitment) => minSlot.at(commitment)));
  }

  /** @param slots - of another process, in the order of `slots`. */
  merge(slots: readonly Slot[]): void {
    commitments.forEach((commitment, at) => {
      this.raise(commitment, slots[at] ?? ZERO_SLOT);
      this.heights.raise(commitment, slots[at + commitments.length] ?? ZERO_SLOT);
    });
  }
}

/** Minimum slots of a session that several processes serve. */
export interface SharedMinSlot {
  /** Whether the minimum is higher than the published one. */
  isAhead(minSlot: MinSlot): boolean;
  /**
   * Publishes the minimum and merges those of other processes.
   * @param callback - called once, without waiting for a connection, possibly synchronously. Must not throw.
   */
  sync(minSlot: MinSlot, callback: () => void): void;
}

export interface MinSlotStore {
  /** @param name - identifies the session in all processes. */
  minSlotFor(name: string): SharedMinSlot;
}
