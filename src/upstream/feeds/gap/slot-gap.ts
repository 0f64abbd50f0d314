import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { readRoot, readSlotInfo, type SlotInfo, slotInfoJson } from '../pubsub-message.ts';
import {
  type Gap,
  type GapRecovery,
  gapWindow,
  type NotificationDecision,
  SeenSlots,
} from './gap-recovery.ts';

/** Emits every missed root in order. Drops roots that are not newer than the last emitted root. */
export class RootGap implements GapRecovery {
  #last: Slot | null = null;

  decide(result: Buffer): NotificationDecision {
    const root = readRoot(result);
    if (root === null || (this.#last !== null && root <= this.#last)) return 'drop';
    this.#last = root;
    return 'pass';
  }

  async fill(gap: Gap): Promise<void> {
    const window = gapWindow(gap, 'finalized', this.#last);
    const live = gap
      .buffered()
      .map(readRoot)
      .find((root) => root !== null);
    const to = live === undefined || live <= window.to ? window.to : slotOf(live - 1n);
    for (const root of await gap.reader.slots(window.from, to, 'finalized', gap.signal)) {
      if (root <= (this.#last ?? gap.opened.root) || (live !== undefined && root >= live)) continue;
      this.#last = root;
      gap.emit(Buffer.from(String(root)));
    }
  }
}

/** Emits every missed slot that has a confirmed block, in order, but no abandoned slots. `root` is estimated. */
export class SlotGap implements GapRecovery {
  readonly #seenSlots: SeenSlots;
  #last: SlotInfo | null = null;
  /** After a failover, this slot and earlier slots are dropped, because the new node may be behind. */
  #failedOverAt: Slot | null = null;

  constructor(seenMax: number) {
    this.#seenSlots = new SeenSlots(seenMax);
  }

  decide(result: Buffer): NotificationDecision {
    const info = readSlotInfo(result);
    if (info === null) return 'drop';
    if (this.#seenSlots.has(String(info.slot)) || info.slot <= (this.#failedOverAt ?? -1n)) return 'drop';
    this.#record(info);
    return 'pass';
  }

  async fill(gap: Gap): Promise<void> {
    const window = gapWindow(gap, 'processed', null);
    this.#failedOverAt = this.#last?.slot ?? null;
    const chain = await gap.reader.slots(window.from, window.to, 'confirmed', gap.signal);
    const live =
      gap
        .buffered()
        .map(readSlotInfo)
        .find((info) => info !== null)?.slot ?? gap.to.slot;
    chain.forEach((slot, at) => {
      const parent = chain[at - 1];
      // The first slot has no parent in the list. It lies in the margin and was already emitted.
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

  /** Assumes that roots advance as fast as slots. The result lies between the last emitted root and `gap.to.root`. */
  #rootAt(slot: Slot, chain: readonly Slot[], { opened, to }: Gap): Slot {
    const last = this.#last ?? opened;
    const maxRoot = last.root + (slot - last.slot);
    const candidates = chain.filter((one) => one > last.root && one <= maxRoot && one <= to.root);
    return candidates.at(-1) ?? last.root;
  }
}
