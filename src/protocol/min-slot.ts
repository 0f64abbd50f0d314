import { type Slot, slot } from '../solana/units.ts';
import { type Commitment, commitments } from './commitment.ts';

const ZERO_SLOT = slot(0n);

class MinimumByCommitment {
  #processed: Slot = ZERO_SLOT;
  #confirmed: Slot = ZERO_SLOT;
  #finalized: Slot = ZERO_SLOT;

  at(commitment: Commitment): Slot {
    if (commitment === 'processed') return this.#processed;
    return commitment === 'confirmed' ? this.#confirmed : this.#finalized;
  }

  raise(commitment: Commitment, observed: Slot): void {
    if (observed > this.#processed) this.#processed = observed;
    if (commitment === 'processed') return;
    if (observed > this.#confirmed) this.#confirmed = observed;
    if (commitment === 'finalized' && observed > this.#finalized) this.#finalized = observed;
  }
}

/**
 * Minimum slots of a session: no response may be older than what the session has seen. An observation also raises the
 * minimums of weaker commitments.
 */
export class MinSlot extends MinimumByCommitment {
  /** Minimum block heights, for responses without a slot. */
  readonly heights: MinimumByCommitment = new MinimumByCommitment();
  /** null if only this process serves the session. */
  readonly shared: SharedMinSlot | null;

  constructor(shared: SharedMinSlot | null = null) {
    super();
    this.shared = shared;
  }

  /** The slots by commitment, then the block heights by commitment. */
  toArray(): readonly Slot[] {
    return [this, this.heights].flatMap((minSlot) => commitments.map((commitment) => minSlot.at(commitment)));
  }

  /** @param values - result of `toArray()` in another process. */
  merge(values: readonly Slot[]): void {
    commitments.forEach((commitment, index) => {
      this.raise(commitment, values[index] ?? ZERO_SLOT);
      this.heights.raise(commitment, values[index + commitments.length] ?? ZERO_SLOT);
    });
  }
}

export interface SharedMinSlot {
  /** Whether `minSlot` is higher than the published minimum. */
  isAhead(minSlot: MinSlot): boolean;
  /**
   * Publishes `minSlot` and merges the minimums of other processes into it. Does not wait for an unreachable store.
   * @param callback - called exactly once, possibly synchronously. Must not throw.
   */
  sync(minSlot: MinSlot, callback: () => void): void;
}

export interface MinSlotStore {
  /** @param sessionName - must be the same in all processes. */
  sharedMinSlotFor(sessionName: string): SharedMinSlot;
}
