import type { Slot } from '../../ledger/units.ts';
import type { KnownSlot } from '../known-slots.ts';

/** Slots that a server may be ahead of all that is told, or behind the first that was: minutes. */
export const FAR_SLOTS = 500n;
/** The same beside a head that is trusted: half a minute, and what a quick chain makes from one poll to the next. */
const AHEAD_SLOTS = 64n;
/** Two servers that are at the head are hardly ever further from each other. */
const NEAR_SLOTS = 8n;
/** How fast a chain may come on, since its head was heard or without one: of local ones, some are quick. */
const SLOTS_PER_SECOND = 100;
/** A head that nobody has told of for so long says nothing. */
const HEAD_MAX_AGE_MS = 5_000;

/** Where a stream is. */
export type Whereabouts = Readonly<{
  /** The slot that it told of last; null for none, or where that says nothing of how far its server is. */
  at: Slot | null;
  /** The newest of those; null likewise. */
  farthest: Slot | null;
}>;

export type SlotHorizonOptions = Readonly<{
  /** How long nothing near must have been told until what is far off is believed. */
  quietMs: number;
  /** The newest slot as somebody else knows it, such as nodes that are polled; null while nobody does. */
  head: () => KnownSlot | null;
  /** Those that tell now. */
  streams: ReadonlySet<Whereabouts>;
}>;

const sinceOf = ({ atMs }: KnownSlot): bigint =>
  BigInt(Math.ceil(((performance.now() - atMs) / 1_000) * SLOTS_PER_SECOND));

/**
 * Which slots may be. Beside a head that is known from elsewhere, and that a stream is near, those near it. Without
 * one, those near what is told: a single server is believed step by step, one of several only as fast as chains go.
 * Where nothing near is told for long, as after all servers were away, those far off are believed with the second
 * one there.
 */
export class SlotHorizon {
  readonly #options: SlotHorizonOptions;
  #newest: Slot | null = null;
  #toldAt = 0;
  /** Slots that one of several may come ahead, and since when that grows. */
  #credit = Number(FAR_SLOTS);
  #creditAt = performance.now();
  /** The last one that was far off. */
  #stray: Slot | null = null;
  /** Since when all that is told is over. */
  #overSince: number | null = null;

  constructor(options: SlotHorizonOptions) {
    this.#options = options;
  }

  /** The head that slots are measured by; null where none is known, or all streams are far from it. */
  get head(): KnownSlot | null {
    const head = this.#freshHead();
    if (head === null) return null;
    const reach = AHEAD_SLOTS + sinceOf(head);
    for (const { at } of this.#options.streams) {
      if (at !== null && at <= head.slot + reach && head.slot <= at + reach) return head;
    }
    return null;
  }

  /** A slot is told from here on, or those up to it are given up. */
  reached(slot: Slot): void {
    this.#toldAt = performance.now();
    this.#stray = null;
    if (this.#newest !== null && slot <= this.#newest) return;
    this.#overSince = null;
    const isFree = this.#isAlone() || this.head !== null;
    const credit = isFree ? Number(FAR_SLOTS) : this.#creditNow() - Number(slot - (this.#newest ?? slot));
    this.#credit = Math.min(Number(FAR_SLOTS), Math.max(0, credit));
    this.#creditAt = this.#toldAt;
    this.#newest = slot;
  }

  /** Whether a slot is not too far ahead. */
  takes(slot: Slot): boolean {
    if (this.#newest === null) return true;
    const { head } = this;
    if (head !== null) return slot <= head.slot + AHEAD_SLOTS + sinceOf(head);
    if (slot <= this.#newest) return true;
    const credit = this.#creditNow();
    const ahead = this.#isAlone() ? Math.max(credit, Number(FAR_SLOTS)) : credit;
    if (Number(slot - this.#newest) <= ahead) return true;
    if (!this.#isBelieved(slot)) return false;
    this.#newest = slot;
    return true;
  }

  /** Whether the chain can have come to a slot; it can where nobody knows, or contradicts the only server. */
  hasCome(slot: Slot): boolean {
    const head = this.#isAlone() ? null : this.head;
    return head === null || slot <= head.slot + NEAR_SLOTS + sinceOf(head);
  }

  /**
   * Something is told of a slot that is over.
   * @param over - those up to this one are.
   * @returns whether all that is told has been so for long: what was told beyond was wrong, or is no more.
   */
  isLeft(over: Slot): boolean {
    const now = performance.now();
    const before = this.#overSince;
    this.#overSince = this.#isBeyond(over) ? null : (before ?? now);
    return before !== null && this.#overSince !== null && now - before > this.#options.quietMs;
  }

  /** Whether no stream has been at a slot or beyond it, nor the head; not where nobody's whereabouts are known. */
  isBelow(slot: Slot): boolean {
    const head = this.#freshHead();
    if (head !== null && head.slot >= slot) return false;
    let isKnown = head !== null;
    for (const { farthest } of this.#options.streams) {
      if (farthest === null) continue;
      if (farthest >= slot) return false;
      isKnown = true;
    }
    return isKnown;
  }

  /** All that was told is forgotten. */
  forget(): void {
    this.#newest = null;
    this.#credit = Number(FAR_SLOTS);
    this.#stray = null;
    this.#overSince = null;
  }

  /** As somebody else knows it, however far all streams are from it. */
  #freshHead(): KnownSlot | null {
    const head = this.#options.head();
    return head === null || performance.now() - head.atMs > HEAD_MAX_AGE_MS ? null : head;
  }

  /** Whether the chain is beyond a slot, or nobody can tell: streams may all be behind, of servers that catch up. */
  #isBeyond(over: Slot): boolean {
    const head = this.#freshHead();
    if (head !== null) return head.slot > over;
    let isKnown = false;
    for (const { at } of this.#options.streams) {
      if (at === null) continue;
      if (at > over) return true;
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

  #isBelieved(slot: Slot): boolean {
    const before = this.#stray;
    this.#stray = slot;
    if (before === null || before === slot) return false;
    const isNear = before < slot ? before + FAR_SLOTS >= slot : slot + FAR_SLOTS >= before;
    return isNear && performance.now() - this.#toldAt > this.#options.quietMs;
  }
}
