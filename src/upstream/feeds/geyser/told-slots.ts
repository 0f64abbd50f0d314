import type { Signature } from '../../../ledger/signature.ts';
import { type Slot, slot as slotOf } from '../../../ledger/units.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import type { TransactionsTold } from '../transactions-told.ts';

/** What of a slot above the root was told. */
type SlotTold = Readonly<{
  parent: Slot | null;
  /** It was told to its end. */
  isWhole: boolean;
  isConfirmed: boolean;
  signatures: ReadonlySet<Signature>;
}>;

const newestOf = (slots: Iterable<Slot>): Slot | null => {
  let newest: Slot | null = null;
  for (const slot of slots) if (newest === null || slot > newest) newest = slot;
  return newest;
};

/**
 * The transactions of slots as a stream told them: at `processed` each by itself, at `confirmed` and `finalized`
 * those of a slot together, once it was told to its end.
 */
export class ToldSlots implements TransactionsTold {
  readonly newest: Slot | null;
  readonly #slots: ReadonlyMap<Slot, SlotTold>;
  readonly #root: Slot | null;
  /** The slot before the first one that the stream told of. */
  readonly #before: Slot | null;
  readonly #confirmed: Slot | null;

  constructor(slots: ReadonlyMap<Slot, SlotTold>, root: Slot | null, before: Slot | null) {
    this.#slots = slots;
    this.#root = root;
    this.#before = before;
    this.newest = newestOf(slots.keys()) ?? root;
    this.#confirmed = this.#newestThat(({ isConfirmed }) => isConfirmed) ?? root;
  }

  /** The same, which nothing changes any more. */
  copy(): ToldSlots {
    const slots = [...this.#slots].map(([slot, told]) => {
      return [slot, { ...told, signatures: new Set(told.signatures) }] as const;
    });
    return new ToldSlots(new Map(slots), this.#root, this.#before);
  }

  upTo(commitment: Commitment): Slot | null {
    const old = this.#root ?? this.#before;
    if (commitment === 'finalized') return old;
    if (commitment === 'processed') return this.#newestThat(({ isWhole }) => isWhole) ?? old;
    return this.#wholeUpTo(this.#confirmed) ?? old;
  }

  has(commitment: Commitment, slot: Slot, signature: Signature): boolean {
    if (this.#root !== null && slot <= this.#root) return true;
    const told = this.#slots.get(slot);
    if (told === undefined || commitment === 'finalized') return false;
    if (commitment === 'processed') return told.signatures.has(signature);
    return told.isWhole && this.#confirmed !== null && slot <= this.#confirmed;
  }

  #newestThat(is: (told: SlotTold) => boolean): Slot | null {
    return newestOf([...this.#slots].filter(([, told]) => is(told)).map(([slot]) => slot));
  }

  /** Goes down the chain from a slot: above what it finds unfinished, something may be missing. */
  #wholeUpTo(tip: Slot | null): Slot | null {
    let whole = tip;
    for (let at = tip; at !== null; ) {
      const told = this.#slots.get(at);
      if (told === undefined) break;
      if (!told.isWhole) whole = slotOf(at > 0n ? at - 1n : 0n);
      at = told.parent;
    }
    return whole;
  }
}
