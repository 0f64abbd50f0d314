import type { Slot } from '../../ledger/units.ts';
import { HeldSlot, type Level, levels } from './held-slot.ts';

export type HeldSlotsOptions = Readonly<{
  /** Slots held between their creation and their root; beyond it the oldest is let go, and told. */
  slotsMax: number;
  /** Accounts and transactions held in all slots; beyond it the oldest slot is let go, and told. */
  heldMax: number;
}>;

const bySlot = (a: HeldSlot, b: HeldSlot): number => (a.slot < b.slot ? -1 : a.slot > b.slot ? 1 : 0);

/** The slots between their creation and their root, with the links to their parents. */
export class HeldSlots {
  readonly #options: HeldSlotsOptions;
  readonly #onForgotten: (held: HeldSlot) => void;
  readonly #slots = new Map<Slot, HeldSlot>();
  #held = 0;

  /** @param onForgotten - called with a slot that is let go before it is over. */
  constructor(options: HeldSlotsOptions, onForgotten: (held: HeldSlot) => void) {
    this.#options = options;
    this.#onForgotten = onForgotten;
  }

  get(slot: Slot): HeldSlot | undefined {
    return this.#slots.get(slot);
  }

  /** The slot, from now on held. */
  hold(slot: Slot): HeldSlot {
    const known = this.#slots.get(slot);
    if (known !== undefined) return known;
    const held = new HeldSlot(slot);
    this.#slots.set(slot, held);
    if (this.#slots.size > this.#options.slotsMax) this.#forgetOldest(held);
    return held;
  }

  /** One more account or transaction is held in a slot. */
  count(held: HeldSlot): void {
    this.#held++;
    if (this.#held > this.#options.heldMax) this.#forgetOldest(held);
  }

  forget(slot: Slot): void {
    const held = this.#slots.get(slot);
    if (held === undefined) return;
    this.#slots.delete(slot);
    this.#held -= held.size;
  }

  /**
   * The slots that reach a level when a slot does: it and what it stands on, oldest first, but for those that
   * reached it already. Confirmed slots are never left by the chain, so a root reaches all of them below it.
   */
  reachedWith(slot: Slot, level: Level): HeldSlot[] {
    const line = this.#ancestry(slot);
    const reached: HeldSlot[] = [];
    for (const held of this.#slots.values()) {
      if (held.slot > slot || held.reached >= level) continue;
      const settled = level === levels.finalized && held.reached >= levels.confirmed;
      if (settled || held.parent === null || line.has(held.slot)) reached.push(held);
    }
    return reached.sort(bySlot);
  }

  /** Drops the slots up to a root: told to everybody, or left by the chain. Those that are due stay. */
  settle(root: Slot): void {
    for (const held of this.#slots.values()) {
      if (held.slot <= root && held.due <= held.reached) this.forget(held.slot);
    }
  }

  #ancestry(slot: Slot): Set<Slot> {
    const line = new Set<Slot>([slot]);
    let next = this.#slots.get(slot)?.parent ?? null;
    while (next !== null && !line.has(next)) {
      line.add(next);
      next = this.#slots.get(next)?.parent ?? null;
    }
    return line;
  }

  /** The slot that is being filled is spared. */
  #forgetOldest(spared: HeldSlot): void {
    let oldest: HeldSlot | null = null;
    for (const held of this.#slots.values()) {
      if (held !== spared && (oldest === null || held.slot < oldest.slot)) oldest = held;
    }
    if (oldest === null) return;
    this.forget(oldest.slot);
    this.#onForgotten(oldest);
  }
}
