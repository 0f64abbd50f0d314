import type { Slot } from '../../solana/units.ts';
import type { GeyserHubOptions } from './geyser-hub-options.ts';
import { type Level, SlotContent } from './slot-content.ts';

type SlotStoreLimits = Pick<GeyserHubOptions, 'replaySlots' | 'replayMaxBytes' | 'waitingSlotsMax'>;

/** Capacity beyond `replaySlots`, as a multiple of `waitingSlotsMax`. */
const AHEAD_MULTIPLE = 2;

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

  /** @returns null if the slot is too old or if there is no capacity. */
  getOrCreate(slot: Slot): SlotContent | null {
    const existing = this.#slots.get(slot);
    if (existing !== undefined) return existing;
    if (this.#newest !== null && slot < this.#newest - BigInt(this.#limits.waitingSlotsMax)) return null;
    if (!this.#ensureCapacityFor(slot)) return null;
    const created = new SlotContent(slot);
    this.#slots.set(slot, created);
    return created;
  }

  /** Only processed slots advance the newest slot: unprocessed slots may be implausible. */
  markProcessed(slot: Slot): void {
    if (this.#newest === null || slot > this.#newest) this.#newest = slot;
  }

  from(slot: Slot): SlotContent[] {
    return [...this.#slots.values()]
      .filter((content) => content.slot >= slot)
      .sort((a, b) => (a.slot < b.slot ? -1 : 1));
  }

  /** First slot at which a replay may start; null if there is none. */
  firstAvailable(): Slot | null {
    if (this.#limits.replaySlots === 0) return null;
    let first: Slot | null = null;
    for (const { slot, isProcessed } of this.#slots.values()) {
      if (isProcessed && (first === null || slot < first)) first = slot;
    }
    return first;
  }

  /** @returns the slot and its ancestors that have not reached the level, oldest first. */
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
   * Evicts slots outside the replay window that are final, abandoned or too old, then the oldest slots while over
   * `replayMaxBytes`. @returns evicted slots that were neither final nor abandoned, lowest first.
   */
  prune(finalized: Slot | null): SlotContent[] {
    if (this.#newest === null) return [];
    const unfinished: SlotContent[] = [];
    const { replaySlots, waitingSlotsMax, replayMaxBytes } = this.#limits;
    const replayCutoff = this.#newest - BigInt(replaySlots);
    const waitingCutoff = this.#newest - BigInt(waitingSlotsMax);
    let bytes = 0;
    for (const content of this.#slots.values()) {
      const { slot, level, bytes: own } = content;
      const isAbandoned = finalized !== null && slot <= finalized;
      const isEvictable = slot <= replayCutoff && (level === 2 || isAbandoned || slot < waitingCutoff);
      if (!isEvictable) bytes += own;
      else {
        this.#slots.delete(slot);
        if (level < 2 && !isAbandoned) unfinished.push(content);
      }
    }
    if (bytes > replayMaxBytes) unfinished.push(...this.#dropOldest(bytes - replayMaxBytes, finalized));
    return unfinished.sort((a, b) => (a.slot < b.slot ? -1 : 1));
  }

  /** If full, evicts the unprocessed slot farthest ahead: it may be implausible. @returns false if there is none. */
  #ensureCapacityFor(slot: Slot): boolean {
    const { replaySlots, waitingSlotsMax } = this.#limits;
    if (this.#slots.size < replaySlots + AHEAD_MULTIPLE * waitingSlotsMax) return true;
    let farthest = slot;
    for (const content of this.#slots.values()) {
      if (!content.isProcessed && content.slot > farthest) farthest = content.slot;
    }
    return this.#slots.delete(farthest);
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
