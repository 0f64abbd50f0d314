import type { Slot } from '../../solana/units.ts';
import { type Level, SlotContent } from './slot-content.ts';

export type SlotStoreLimits = Readonly<{
  /** Slots behind the newest one that a stream may begin at; 0: no stream may begin in the past. */
  replaySlots: number;
  /** Bytes that all slots together may hold. */
  replayMaxBytes: number;
  /** Slots behind the newest one that wait for their commitment; those that got none by then never will. */
  waitingSlotsMax: number;
}>;

/** Slots that may be held beside those for replays: twice what waits for a commitment. */
const AHEAD_SHARE = 2;

/** The slots whose content is held: those that wait for a commitment, and those that may be told again. */
export class SlotStore {
  readonly #limits: SlotStoreLimits;
  readonly #slots = new Map<Slot, SlotContent>();
  #newest: Slot | null = null;

  constructor(limits: SlotStoreLimits) {
    this.#limits = limits;
  }

  get(slot: Slot): SlotContent | null {
    return this.#slots.get(slot) ?? null;
  }

  /** The slot's content, begun when it is new; null for one that is over, or beyond what can be held. */
  getOrCreate(slot: Slot): SlotContent | null {
    const existing = this.#slots.get(slot);
    if (existing !== undefined) return existing;
    if (this.#newest !== null && slot < this.#newest - BigInt(this.#limits.waitingSlotsMax)) return null;
    if (!this.#hasCapacityFor(slot)) return null;
    const created = new SlotContent(slot);
    this.#slots.set(slot, created);
    return created;
  }

  /** A slot was told whole: only such ones say how far the chain has come, for of others anything may be told. */
  markProcessed(slot: Slot): void {
    if (this.#newest === null || slot > this.#newest) this.#newest = slot;
  }

  /** Slots from one on, ascending. */
  from(slot: Slot): SlotContent[] {
    return [...this.#slots.values()]
      .filter((content) => content.slot >= slot)
      .sort((a, b) => (a.slot < b.slot ? -1 : 1));
  }

  /** The lowest slot that a stream may begin at; null for none. */
  firstAvailable(): Slot | null {
    if (this.#limits.replaySlots === 0) return null;
    let first: Slot | null = null;
    for (const { slot, isProcessed } of this.#slots.values()) {
      if (isProcessed && (first === null || slot < first)) first = slot;
    }
    return first;
  }

  /** A slot and those before it that have not come so far yet, the oldest first. */
  ancestors(slot: Slot, level: Level): SlotContent[] {
    const chain: SlotContent[] = [];
    let next = this.#slots.get(slot);
    while (next !== undefined && next.level < level) {
      chain.push(next);
      next = next.parent === null || next.parent >= next.slot ? undefined : this.#slots.get(next.parent);
    }
    return chain.reverse();
  }

  /**
   * Lets go of what is over, and of the oldest where too much is held.
   * @param finalized - the newest that is; what is not, up to there, was left by the chain.
   * @returns slots that were let go before they came to an end, ascending.
   */
  prune(finalized: Slot | null): SlotContent[] {
    if (this.#newest === null) return [];
    const unfinished: SlotContent[] = [];
    const { replaySlots, waitingSlotsMax, replayMaxBytes } = this.#limits;
    const replayed = this.#newest - BigInt(replaySlots);
    const waiting = this.#newest - BigInt(waitingSlotsMax);
    let bytes = 0;
    for (const content of this.#slots.values()) {
      const { slot, level, bytes: own } = content;
      const isAbandoned = finalized !== null && slot <= finalized;
      const isFinished = slot <= replayed && (level === 2 || isAbandoned || slot < waiting);
      if (!isFinished) bytes += own;
      else {
        this.#slots.delete(slot);
        if (level < 2 && !isAbandoned) unfinished.push(content);
      }
    }
    if (bytes > replayMaxBytes) unfinished.push(...this.#dropOldest(bytes - replayMaxBytes, finalized));
    return unfinished.sort((a, b) => (a.slot < b.slot ? -1 : 1));
  }

  /** What lies furthest ahead and was never told whole gives way: it may be no slot at all. */
  #hasCapacityFor(slot: Slot): boolean {
    const { replaySlots, waitingSlotsMax } = this.#limits;
    if (this.#slots.size < replaySlots + AHEAD_SHARE * waitingSlotsMax) return true;
    let furthest = slot;
    for (const content of this.#slots.values()) {
      if (!content.isProcessed && content.slot > furthest) furthest = content.slot;
    }
    return this.#slots.delete(furthest);
  }

  #dropOldest(excess: number, finalized: Slot | null): SlotContent[] {
    const unfinished: SlotContent[] = [];
    let remainingBytes = excess;
    for (const content of this.from(0n as Slot)) {
      const { slot, level, bytes } = content;
      if (remainingBytes <= 0 || slot === this.#newest) break;
      this.#slots.delete(slot);
      remainingBytes -= bytes;
      if (level < 2 && (finalized === null || slot > finalized)) unfinished.push(content);
    }
    return unfinished;
  }
}
