import type { Slot } from '../../../solana/units.ts';
import { readSlotInfo, type SlotInfo, slotInfoJson } from '../slot-info.ts';
import { type Continuity, type Gap, gapWindow, type NotificationDecision } from './continuity.ts';
import { SeenSlots } from './seen-slots.ts';

/**
 * `slot`: every missed slot that holds a confirmed block is told, in order, before the live ones; its parent is the
 * block before it. A slot that was begun and abandoned is not made up for. `root` is an estimate, the newest block
 * that must have been rooted by then: history does not tell it.
 */
export class SlotGap implements Continuity {
  readonly #seenSlots: SeenSlots;
  #last: SlotInfo | null = null;
  /** After a move, slots up to this one are not told any more: a node behind the one before begins earlier. */
  #movedAt: Slot | null = null;

  /** @param seenMax - slots that are remembered. */
  constructor(seenMax: number) {
    this.#seenSlots = new SeenSlots(seenMax);
  }

  decide(result: Buffer): NotificationDecision {
    const info = readSlotInfo(result);
    if (info === null) return 'drop';
    if (this.#seenSlots.has(String(info.slot)) || info.slot <= (this.#movedAt ?? -1n)) return 'drop';
    this.#record(info);
    return 'pass';
  }

  async fill(gap: Gap): Promise<void> {
    const window = gapWindow(gap, 'processed', null);
    this.#movedAt = this.#last?.slot ?? null;
    const chain = await gap.reader.slots(window.from, window.to, 'confirmed', gap.signal);
    const live =
      gap
        .buffered()
        .map(readSlotInfo)
        .find((info) => info !== null)?.slot ?? gap.to.slot;
    chain.forEach((slot, at) => {
      const parent = chain[at - 1];
      // Without the block before it, it lies in the margin, and was told long ago.
      if (parent === undefined || slot <= (this.#last?.slot ?? gap.opened.slot) || slot >= live) return;
      if (this.#seenSlots.has(String(slot))) return;
      const info = { slot, parent, root: this.#rootAt(slot, chain, gap) };
      this.#record(info);
      gap.emit(slotInfoJson(info));
    });
  }

  #record(info: SlotInfo): void {
    this.#seenSlots.add(String(info.slot), info.slot);
    if (this.#last === null || info.slot > this.#last.slot) this.#last = info;
  }

  /** Roots advance about as slots do; never behind the last told one, never beyond the live one. */
  #rootAt(slot: Slot, chain: readonly Slot[], { opened, to }: Gap): Slot {
    const last = this.#last ?? opened;
    const most = last.root + (slot - last.slot);
    const candidates = chain.filter((one) => one > last.root && one <= most && one <= to.root);
    return candidates.at(-1) ?? last.root;
  }
}
