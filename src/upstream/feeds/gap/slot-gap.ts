import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { readSlotInfo, type SlotInfo, slotInfoJson } from '../pubsub-message.ts';
import { type Continuity, type Gap, gapWindow, type NotificationDecision, SeenSlots } from './continuity.ts';

const DIGITS = /^\d{1,20}$/;

/** The slot of a rootNotification; null when it is something else. */
export function readRoot(result: Buffer): Slot | null {
  const text = result.toString('latin1');
  return DIGITS.test(text) ? slotOf(BigInt(text)) : null;
}

/** `root`: every missed finalized block is told, in order, before the live ones. Roots only grow. */
export class RootGap implements Continuity {
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
