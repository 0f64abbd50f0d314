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
 * Minimum slots of a session: no response may be older than what it has seen. An observation also raises the minimums
 * of weaker commitments.
 */
export class MinSlot extends MinimumByCommitment {
  /** Block heights, for responses without a slot. */
  readonly heights: MinimumByCommitment = new MinimumByCommitment();
  /** null: only this process serves the session. */
  readonly shared: SharedMinSlot | null;

  constructor(shared: SharedMinSlot | null = null) {
    super();
    this.shared = shared;
  }

  /** By commitment, then the block heights. */
  toArray(): readonly Slot[] {
    return [this, this.heights].flatMap((minSlot) => commitments.map((commitment) => minSlot.at(commitment)));
  }

  /** @param values - `toArray()` of another process. */
  merge(values: readonly Slot[]): void {
    commitments.forEach((commitment, index) => {
      this.raise(commitment, values[index] ?? ZERO_SLOT);
      this.heights.raise(commitment, values[index + commitments.length] ?? ZERO_SLOT);
    });
  }
}

export interface SharedMinSlot {
  /** Whether the minimum is higher than the published one. */
  isAhead(minSlot: MinSlot): boolean;
  /**
   * Publishes the minimum and merges those of others. Calls back exactly once, possibly synchronously. Does not
   * wait for a connection.
   * The callback must not throw.
   */
  sync(minSlot: MinSlot, callback: () => void): void;
}

export interface MinSlotStore {
  /** @param sessionName - the same in all processes. */
  sharedMinSlotFor(sessionName: string): SharedMinSlot;
}
