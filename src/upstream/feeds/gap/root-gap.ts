import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { type Continuity, type Gap, gapWindow, type NotificationDecision } from './continuity.ts';

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
