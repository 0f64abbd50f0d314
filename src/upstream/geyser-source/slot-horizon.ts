import type { Slot } from '../../ledger/units.ts';

/** Slots that a server may be ahead of all that is told, or behind the first that was: minutes. */
export const FAR_SLOTS = 500n;

/**
 * Which slots may be: those near the ones that are told. A single one far ahead of everyone, which may come of any
 * fault of a server, changes nothing. Where nothing near is told for long, as after all servers were away, those far
 * off are believed with the second one there.
 */
export class SlotHorizon {
  readonly #quietMs: number;
  #newest: Slot | null = null;
  #toldAt = 0;
  /** The last one that was far off. */
  #stray: Slot | null = null;

  /** @param quietMs - how long nothing near must have been told. */
  constructor(quietMs: number) {
    this.#quietMs = quietMs;
  }

  /** A slot is told from here on, or those up to it are given up. */
  reached(slot: Slot): void {
    if (this.#newest === null || slot > this.#newest) this.#newest = slot;
    this.#toldAt = performance.now();
    this.#stray = null;
  }

  /** Whether a slot is not too far ahead. */
  takes(slot: Slot): boolean {
    if (this.#newest === null || slot <= this.#newest + FAR_SLOTS) return true;
    if (!this.#isBelieved(slot)) return false;
    this.#newest = slot;
    return true;
  }

  /** Whether all that is told now lies far behind the slot with which the telling began: that one was wrong. */
  leaves(first: Slot, slot: Slot): boolean {
    if (slot + FAR_SLOTS >= first || !this.#isBelieved(slot)) return false;
    this.#newest = null;
    return true;
  }

  #isBelieved(slot: Slot): boolean {
    const before = this.#stray;
    this.#stray = slot;
    if (before === null || before === slot) return false;
    const isNear = before < slot ? before + FAR_SLOTS >= slot : slot + FAR_SLOTS >= before;
    return isNear && performance.now() - this.#toldAt > this.#quietMs;
  }
}
