import { type Slot, slot } from '../ledger/units.ts';
import type { Commitment } from './commitment.ts';

/** In which order marks stand. */
const commitments = ['processed', 'confirmed', 'finalized'] as const satisfies readonly Commitment[];
const NOTHING = slot(0n);

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
  /** Where others have it too; null: it is this process's alone. */
  readonly kept: KeptFloor | null;

  constructor(kept: KeptFloor | null = null) {
    super();
    this.kept = kept;
  }

  /** All that was told, in one order. */
  get marks(): readonly Slot[] {
    return [this, this.heights].flatMap((floor) => commitments.map((commitment) => floor.at(commitment)));
  }

  /** Others were told so much. @param marks - in the order of `marks`. */
  learn(marks: readonly Slot[]): void {
    commitments.forEach((commitment, at) => {
      this.raise(commitment, marks[at] ?? NOTHING);
      this.heights.raise(commitment, marks[at + commitments.length] ?? NOTHING);
    });
  }
}

/** What several processes keep of one floor. */
export interface KeptFloor {
  /** Whether the floor is higher than what was told to the others. */
  isAhead(floor: SlotFloor): boolean;
  /**
   * Tells the others of the floor, and raises it to what they were told.
   * @param then - called once, soon in any case, also where nobody could be met; maybe before this returns. Must not throw.
   */
  meet(floor: SlotFloor, then: () => void): void;
}

/** Where floors are kept for several processes. */
export interface FloorExchange {
  /** @param name - the same for one floor in all of them. */
  keptAt(name: string): KeptFloor;
}
