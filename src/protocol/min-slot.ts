import { type Slot, slot } from '../solana/units.ts';
import type { Commitment } from './commitment.ts';

/** In which order marks stand. */
const commitments = ['processed', 'confirmed', 'finalized'] as const satisfies readonly Commitment[];
const ZERO_SLOT = slot(0n);

/** The newest that somebody was told at each commitment. */
class MinSlotByCommitment {
  #processed: Slot = slot(0n);
  #confirmed: Slot = slot(0n);
  #finalized: Slot = slot(0n);

  /** The oldest slot that an answer at this commitment may be of. */
  at(commitment: Commitment): Slot {
    if (commitment === 'processed') return this.#processed;
    return commitment === 'confirmed' ? this.#confirmed : this.#finalized;
  }

  /** An answer at this commitment was passed on that is of this slot. */
  raise(commitment: Commitment, observed: Slot): void {
    if (observed > this.#processed) this.#processed = observed;
    if (commitment === 'processed') return;
    if (observed > this.#confirmed) this.#confirmed = observed;
    if (commitment === 'finalized' && observed > this.#finalized) this.#finalized = observed;
  }
}

/**
 * The newest slots that somebody was told answers of, who must not see the chain go back: what they are told next may
 * not be older. Each commitment has its own, because what is settled more is older by nature: an answer raises the
 * floor of its own commitment and of those that are settled less.
 */
export class MinSlot extends MinSlotByCommitment {
  /** The same of heights of blocks, where an answer says nothing of slots. */
  readonly heights: MinSlotByCommitment = new MinSlotByCommitment();
  /** Where others have it too; null: it is this process's alone. */
  readonly shared: SharedMinSlot | null;

  constructor(shared: SharedMinSlot | null = null) {
    super();
    this.shared = shared;
  }

  /** All that was told, in one order. */
  get slots(): readonly Slot[] {
    return [this, this.heights].flatMap((minSlot) => commitments.map((commitment) => minSlot.at(commitment)));
  }

  /** Others were told so much. @param marks - in the order of `marks`. */
  merge(slots: readonly Slot[]): void {
    commitments.forEach((commitment, at) => {
      this.raise(commitment, slots[at] ?? ZERO_SLOT);
      this.heights.raise(commitment, slots[at + commitments.length] ?? ZERO_SLOT);
    });
  }
}

/** What several processes keep of one floor. */
export interface SharedMinSlot {
  /** Whether the floor is higher than what was told to the others. */
  isAhead(minSlot: MinSlot): boolean;
  /**
   * Tells the others of the floor, and raises it to what they were told.
   * @param then - called once, soon in any case, also where nobody could be met; maybe before this returns. Must not throw.
   */
  sync(minSlot: MinSlot, callback: () => void): void;
}

/** Where floors are kept for several processes. */
export interface MinSlotStore {
  /** @param name - the same for one floor in all of them. */
  minSlotFor(name: string): SharedMinSlot;
}
