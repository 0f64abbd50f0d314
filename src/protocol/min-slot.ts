import { type Slot, slot } from '../solana/units.ts';
import { type Commitment, commitments } from './commitment.ts';

const ZERO_SLOT = slot(0n);

class MinSlotByCommitment {
  #processed: Slot = slot(0n);
  #confirmed: Slot = slot(0n);
  #finalized: Slot = slot(0n);

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

/** A response must not be older than what the session has seen; it also raises the minimum of weaker commitments. */
export class MinSlot extends MinSlotByCommitment {
  /** Block heights, for responses without a slot. */
  readonly heights: MinSlotByCommitment = new MinSlotByCommitment();
  /** null: only this process serves the session. */
  readonly shared: SharedMinSlot | null;

  constructor(shared: SharedMinSlot | null = null) {
    super();
    this.shared = shared;
  }

  get slots(): readonly Slot[] {
    return [this, this.heights].flatMap((minSlot) => commitments.map((commitment) => minSlot.at(commitment)));
  }

  /** @param slots - of another process. */
  merge(slots: readonly Slot[]): void {
    commitments.forEach((commitment, at) => {
      this.raise(commitment, slots[at] ?? ZERO_SLOT);
      this.heights.raise(commitment, slots[at + commitments.length] ?? ZERO_SLOT);
    });
  }
}

export interface SharedMinSlot {
  /** Whether the minimum is higher than the published one. */
  isAhead(minSlot: MinSlot): boolean;
  /**
   * Publishes the minimum and merges those of others. Calls back once, possibly synchronously; never waits to connect.
   * The callback must not throw.
   */
  sync(minSlot: MinSlot, callback: () => void): void;
}

export interface MinSlotStore {
  /** @param name - identifies the session in all processes. */
  minSlotFor(name: string): SharedMinSlot;
}
