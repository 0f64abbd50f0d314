import type { Slot } from '../../solana/units.ts';

/** With fewer nodes, a node that is ahead cannot be outvoted. */
export const OUTVOTE_MIN = 3;

/** The newest slot. With three or more nodes, a slot too far ahead of all others is ignored: it may be wrong. */
export function referenceSlot(slots: readonly Slot[], lagMaxSlots: number): Slot | null {
  const [top, second] = [...slots].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  if (top === undefined || second === undefined || slots.length < OUTVOTE_MIN) return top ?? null;
  return top - second > BigInt(lagMaxSlots) ? second : top;
}
