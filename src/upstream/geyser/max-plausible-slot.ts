import type { Slot } from '../../solana/units.ts';
import type { ObservedSlot } from '../slots/slot-tracker.ts';

/** Slots that a server may be ahead of all that is told, or behind the first that was: minutes. */
export const JUMP_MAX_SLOTS = 500n;
/** The same beside a head that is trusted: half a minute, and what a quick chain makes from one poll to the next. */
const AHEAD_SLOTS = 64n;
/** Two servers that are at the head are hardly ever further from each other. */
const NEAR_SLOTS = 8n;
/** How fast a chain may come on, since its head was heard or without one: of local ones, some are quick. */
const SLOTS_PER_SECOND = 100;
/** A head that nobody has told of for so long says nothing. */
const HEAD_MAX_AGE_MS = 5_000;

/** Where a stream is. */
type StreamPosition = Readonly<{
  /** The slot that it told of last; null for none, or where that says nothing of how far its server is. */
  slot: Slot | null;
  /** The newest of those; null likewise. */
  maxSlot: Slot | null;
}>;

type SlotPlausibilityOptions = Readonly<{
  /** How long nothing near must have been told until what is far off is believed. */
  quietMs: number;
  /** The newest slot as somebody else knows it, such as nodes that are polled; null while nobody does. */
  head: () => ObservedSlot | null;
  /** Those that tell now. */
  streams: ReadonlySet<StreamPosition>;
}>;

const sinceOf = ({ atMs }: ObservedSlot): bigint =>
  BigInt(Math.ceil(((performance.now() - atMs) / 1_000) * SLOTS_PER_SECOND));

/**
 * Which slots may be. Beside a head that is known from elsewhere, and that a stream is near, those near it. Without
 * one, those near what is told: a single server is believed step by step, one of several only as fast as chains go.
 * Where nothing near is told for long, as after all servers were away, those far off are believed with the second
 * one there.
 */
export class SlotPlausibility {
  readonly #options: SlotPlausibilityOptions;
  #newest: Slot | null = null;
  #updatedAt = 0;
  /** Slots that one of several may come ahead, and since when that grows. */
  #credit = Number(JUMP_MAX_SLOTS);
  #creditAt = performance.now();
  /** The last one that was far off. */
  #outlier: Slot | null = null;
  /** Since when all that is told is over. */
  #staleSince: number | null = null;

  constructor(options: SlotPlausibilityOptions) {
    this.#options = options;
  }

  /** The head that slots are measured by; null where none is known, or all streams are far from it. */
  get head(): ObservedSlot | null {
    const head = this.#freshHead();
    if (head === null) return null;
    const reach = AHEAD_SLOTS + sinceOf(head);
    for (const { slot } of this.#options.streams) {
      if (slot !== null && slot <= head.slot + reach && head.slot <= slot + reach) return head;
    }
    return null;
  }

  /** A slot is told from here on, or those up to it are given up. */
  recordSlot(slot: Slot): void {
    this.#updatedAt = performance.now();
    this.#outlier = null;
    if (this.#newest !== null && slot <= this.#newest) return;
    this.#staleSince = null;
    const isFree = this.#isAlone() || this.head !== null;
    const credit = isFree
      ? Number(JUMP_MAX_SLOTS)
      : this.#creditNow() - Number(slot - (this.#newest ?? slot));
    this.#credit = Math.min(Number(JUMP_MAX_SLOTS), Math.max(0, credit));
    this.#creditAt = this.#updatedAt;
    this.#newest = slot;
  }

  /** Whether a slot is not too far ahead. */
  isPlausible(slot: Slot): boolean {
    if (this.#newest === null) return true;
    const { head } = this;
    if (head !== null) return slot <= head.slot + AHEAD_SLOTS + sinceOf(head);
    if (slot <= this.#newest) return true;
    const credit = this.#creditNow();
    const ahead = this.#isAlone() ? Math.max(credit, Number(JUMP_MAX_SLOTS)) : credit;
    if (Number(slot - this.#newest) <= ahead) return true;
    if (!this.#isConfirmedBySecond(slot)) return false;
    this.#newest = slot;
    return true;
  }

  /** Whether the chain can have come to a slot; it can where nobody knows, or contradicts the only server. */
  isPossible(slot: Slot): boolean {
    const head = this.#isAlone() ? null : this.head;
    return head === null || slot <= head.slot + NEAR_SLOTS + sinceOf(head);
  }

  /**
   * Something is told of a slot that is over.
   * @param over - those up to this one are.
   * @returns whether all that is told has been so for long: what was told beyond was wrong, or is no more.
   */
  isChainReset(finishedUpTo: Slot): boolean {
    const now = performance.now();
    const before = this.#staleSince;
    this.#staleSince = this.#isBeyond(finishedUpTo) ? null : (before ?? now);
    return before !== null && this.#staleSince !== null && now - before > this.#options.quietMs;
  }

  /** Whether no stream has been at a slot or beyond it, nor the head; not where nobody's whereabouts are known. */
  isBehind(slot: Slot): boolean {
    const head = this.#freshHead();
    if (head !== null && head.slot >= slot) return false;
    let isKnown = head !== null;
    for (const { maxSlot } of this.#options.streams) {
      if (maxSlot === null) continue;
      if (maxSlot >= slot) return false;
      isKnown = true;
    }
    return isKnown;
  }

  /** All that was told is forgotten. */
  reset(): void {
    this.#newest = null;
    this.#credit = Number(JUMP_MAX_SLOTS);
    this.#outlier = null;
    this.#staleSince = null;
  }

  /** As somebody else knows it, however far all streams are from it. */
  #freshHead(): ObservedSlot | null {
    const head = this.#options.head();
    return head === null || performance.now() - head.atMs > HEAD_MAX_AGE_MS ? null : head;
  }

  /** Whether the chain is beyond a slot, or nobody can tell: streams may all be behind, of servers that catch up. */
  #isBeyond(finishedUpTo: Slot): boolean {
    const head = this.#freshHead();
    if (head !== null) return head.slot > finishedUpTo;
    let isKnown = false;
    for (const { slot } of this.#options.streams) {
      if (slot === null) continue;
      if (slot > finishedUpTo) return true;
      isKnown = true;
    }
    return !isKnown;
  }

  #isAlone(): boolean {
    return this.#options.streams.size < 2;
  }

  #creditNow(): number {
    return this.#credit + ((performance.now() - this.#creditAt) / 1_000) * SLOTS_PER_SECOND;
  }

  #isConfirmedBySecond(slot: Slot): boolean {
    const before = this.#outlier;
    this.#outlier = slot;
    if (before === null || before === slot) return false;
    const isNear = before < slot ? before + JUMP_MAX_SLOTS >= slot : slot + JUMP_MAX_SLOTS >= before;
    return isNear && performance.now() - this.#updatedAt > this.#options.quietMs;
  }
}
