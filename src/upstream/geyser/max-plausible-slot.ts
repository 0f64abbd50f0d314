import type { Slot } from '../../solana/units.ts';
import type { ObservedSlot } from '../slots/slot-tracker.ts';
import type { StreamReader } from './stream-reader.ts';

/** Number of slots by which a server may be ahead of the emitted slots or behind the newest slot (a few minutes). */
export const JUMP_MAX_SLOTS = 500n;
/** A server may be ahead of a trusted head by this many slots (about 30 s), plus progress since the head was seen. */
const AHEAD_SLOTS = 64n;
const NEAR_SLOTS = 8n;
/** Upper bound on the speed of a chain. Some local chains are fast. */
const SLOTS_PER_SECOND = 100;
/** A head older than this is ignored. */
const HEAD_MAX_AGE_MS = 5_000;

type SlotPlausibilityOptions = Readonly<{
  /** After this long without a plausible slot, a distant slot is accepted. */
  quietMs: number;
  /** Head slot from another source, such as polled nodes. */
  head: () => ObservedSlot | null;
  streams: ReadonlySet<Pick<StreamReader, 'slot' | 'maxSlot'>>;
}>;

const maxSlotsSince = ({ atMs }: ObservedSlot): bigint =>
  BigInt(Math.ceil(((performance.now() - atMs) / 1_000) * SLOTS_PER_SECOND));

/**
 * Decides which slots are plausible. If the head is known and a stream is near it, slots near the head are plausible.
 * Otherwise, slots near emitted slots are plausible: a single server may jump, but one of several servers may only
 * advance at chain speed. After a quiet period, a distant slot is accepted if the previously rejected slot is near it.
 */
export class SlotPlausibility {
  readonly #options: SlotPlausibilityOptions;
  #newest: Slot | null = null;
  #updatedAt = 0;
  /** Number of slots by which one of several servers may advance. */
  #credit = Number(JUMP_MAX_SLOTS);
  #creditAt = performance.now();
  #outlier: Slot | null = null;
  /** Time since which only finished slots (evicted or far behind) have been reported. */
  #staleSince: number | null = null;

  constructor(options: SlotPlausibilityOptions) {
    this.#options = options;
  }

  /** Null if the head is unknown or all streams are far from it. */
  get head(): ObservedSlot | null {
    const head = this.#freshHead();
    if (head === null) return null;
    const reach = AHEAD_SLOTS + maxSlotsSince(head);
    for (const { slot } of this.#options.streams) {
      if (slot !== null && slot <= head.slot + reach && head.slot <= slot + reach) return head;
    }
    return null;
  }

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

  isPlausible(slot: Slot): boolean {
    if (this.#newest === null) return true;
    const { head } = this;
    if (head !== null) return slot <= head.slot + AHEAD_SLOTS + maxSlotsSince(head);
    if (slot <= this.#newest) return true;
    const credit = this.#creditNow();
    const ahead = this.#isAlone() ? Math.max(credit, Number(JUMP_MAX_SLOTS)) : credit;
    if (Number(slot - this.#newest) <= ahead) return true;
    if (!this.#isConfirmedBySecond(slot)) return false;
    this.#newest = slot;
    return true;
  }

  /** Whether the chain can have reached a slot. True if the head is unknown or there is only one server. */
  isPossible(slot: Slot): boolean {
    const head = this.#isAlone() ? null : this.head;
    return head === null || slot <= head.slot + NEAR_SLOTS + maxSlotsSince(head);
  }

  /** Whether only finished slots have arrived for `quietMs`. If so, newer slots were wrong or the chain was reset. */
  isChainReset(finishedUpTo: Slot): boolean {
    const now = performance.now();
    const before = this.#staleSince;
    this.#staleSince = this.#isBeyond(finishedUpTo) ? null : (before ?? now);
    return before !== null && this.#staleSince !== null && now - before > this.#options.quietMs;
  }

  /** Whether the head and all known stream positions are below a slot; false if neither is known. */
  isBehind(slot: Slot): boolean {
    const reported = [...this.#options.streams].map(({ maxSlot }) => maxSlot);
    const positions = [this.#freshHead()?.slot ?? null, ...reported];
    const known = positions.filter((position) => position !== null);
    return known.length > 0 && known.every((position) => position < slot);
  }

  reset(): void {
    this.#newest = null;
    this.#credit = Number(JUMP_MAX_SLOTS);
    this.#outlier = null;
    this.#staleSince = null;
  }

  /** The head from `options.head`, even if all streams are far from it; null if unknown or too old. */
  #freshHead(): ObservedSlot | null {
    const head = this.#options.head();
    return head === null || performance.now() - head.atMs > HEAD_MAX_AGE_MS ? null : head;
  }

  /** Whether the chain is beyond the finished slots. True if unknown, since servers may be catching up. */
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
