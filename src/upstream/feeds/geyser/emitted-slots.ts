import type { Commitment } from '../../../protocol/commitment.ts';
import type { Signature } from '../../../solana/signature.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import type { EmittedTransactions } from '../block-stream.ts';
import { newer } from '../gap/gap-recovery.ts';

type EmittedSlot = Readonly<{
  parent: Slot | null;
  /** Emitted completely. */
  isWhole: boolean;
  isConfirmed: boolean;
  signatures: ReadonlySet<Signature>;
}>;

const newestOf = (slots: Iterable<Slot>): Slot | null => {
  let newest: Slot | null = null;
  for (const slot of slots) if (newest === null || slot > newest) newest = slot;
  return newest;
};

/** Emitted transactions: at `processed` individually, at `confirmed` and `finalized` per completed slot. */
export class EmittedSlots implements EmittedTransactions {
  readonly newest: Slot | null;
  readonly #slots: ReadonlyMap<Slot, EmittedSlot>;
  readonly #root: Slot | null;
  /** Slots up to this one precede the feed. */
  readonly #before: Slot | null;
  readonly #confirmed: Slot | null;

  constructor(slots: ReadonlyMap<Slot, EmittedSlot>, root: Slot | null, before: Slot | null) {
    this.#slots = slots;
    this.#root = root;
    this.#before = before;
    this.newest = newestOf(slots.keys()) ?? root;
    this.#confirmed = this.#newestWhere(({ isConfirmed }) => isConfirmed) ?? root;
  }

  copy(): EmittedSlots {
    const slots = [...this.#slots].map(([slot, emitted]) => {
      return [slot, { ...emitted, signatures: new Set(emitted.signatures) }] as const;
    });
    return new EmittedSlots(new Map(slots), this.#root, this.#before);
  }

  upTo(commitment: Commitment): Slot | null {
    const old = newer(this.#root, this.#before);
    if (commitment === 'finalized') return old;
    if (commitment === 'processed') return this.#newestWhere(({ isWhole }) => isWhole) ?? old;
    return this.#completeUpTo(this.#confirmed) ?? old;
  }

  has(commitment: Commitment, slot: Slot, signature: Signature): boolean {
    if (this.#root !== null && slot <= this.#root) return true;
    const emitted = this.#slots.get(slot);
    if (emitted === undefined || commitment === 'finalized') return false;
    if (commitment === 'processed') return emitted.signatures.has(signature);
    return emitted.isWhole && this.#confirmed !== null && slot <= this.#confirmed;
  }

  #newestWhere(is: (emitted: EmittedSlot) => boolean): Slot | null {
    return newestOf([...this.#slots].filter(([, emitted]) => is(emitted)).map(([slot]) => slot));
  }

  /** Follows the chain down from a slot; transactions above an incomplete slot may be missing. */
  #completeUpTo(tip: Slot | null): Slot | null {
    let complete = tip;
    for (let at = tip; at !== null; ) {
      const emitted = this.#slots.get(at);
      if (emitted === undefined) break;
      if (!emitted.isWhole) complete = slotOf(at > 0n ? at - 1n : 0n);
      at = emitted.parent;
    }
    return complete;
  }
}
