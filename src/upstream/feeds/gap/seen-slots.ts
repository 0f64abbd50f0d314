import { type Slot, slot as slotOf } from '../../../solana/units.ts';

/** Remembers what was told, by name, with the slot it was told of; forgets the oldest beyond a number. */
export class SeenSlots {
  readonly #slots = new Map<string, Slot>();
  readonly #max: number;
  #evictedUpTo: Slot = slotOf(-1n);

  /** @param max - names that are remembered. */
  constructor(max: number) {
    this.#max = max;
  }

  /** The newest slot of which something was forgotten; -1 while nothing was. */
  get evictedUpTo(): Slot {
    return this.#evictedUpTo;
  }

  has(name: string): boolean {
    return this.#slots.has(name);
  }

  /** The slot it was told of last; undefined when it was not, or that is forgotten. */
  get(name: string): Slot | undefined {
    return this.#slots.get(name);
  }

  add(name: string, slot: Slot): void {
    this.#slots.delete(name);
    this.#slots.set(name, slot);
    if (this.#slots.size > this.#max) this.#evictOldest();
  }

  #evictOldest(): void {
    for (const [name, slot] of this.#slots) {
      this.#slots.delete(name);
      if (slot > this.#evictedUpTo) this.#evictedUpTo = slot;
      return;
    }
  }
}
