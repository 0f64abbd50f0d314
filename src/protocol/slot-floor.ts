import { type Slot, slot } from '../ledger/units.ts';
import type { Commitment } from './commitment.ts';

/** The newest that somebody was told at each commitment. */
class Floor {
  #processed: Slot = slot(0n);
  #confirmed: Slot = slot(0n);
  #finalized: Slot = slot(0n);

  /** The oldest slot that an answer at this commitment may be of. */
  at(commitment: Commitment): Slot {
    if (commitment === 'processed') return this.#processed;
    return commitment === 'confirmed' ? this.#confirmed : this.#finalized;
  }

  /** An answer at this commitment was passed on that is of this slot. */
  raise(commitment: Commitment, told: Slot): void {
    if (told > this.#processed) this.#processed = told;
    if (commitment === 'processed') return;
    if (told > this.#confirmed) this.#confirmed = told;
    if (commitment === 'finalized' && told > this.#finalized) this.#finalized = told;
  }
}

/**
 * The newest slots that somebody was told answers of, who must not see the chain go back: what they are told next may
 * not be older. Each commitment has its own, because what is settled more is older by nature: an answer raises the
 * floor of its own commitment and of those that are settled less.
 */
export class SlotFloor extends Floor {
  /** The same of heights of blocks, where an answer says nothing of slots. */
  readonly heights: Floor = new Floor();
}
