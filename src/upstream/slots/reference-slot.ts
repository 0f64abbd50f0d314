import type { Slot } from '../../solana/units.ts';

/** Fewer nodes than this cannot outvote one that is ahead of all. */
export const OUTVOTE_MIN = 3;

/**
 * The slot against which nodes are measured: the newest, unless a single node of three or more is ahead of all
 * others by more than may be: then it is not believed, so that one liar cannot exclude the honest.
 */
export function referenceSlot(slots: readonly Slot[], lagMaxSlots: number): Slot | null {
  const [top, second] = [...slots].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  if (top === undefined || second === undefined || slots.length < OUTVOTE_MIN) return top ?? null;
  return top - second > BigInt(lagMaxSlots) ? second : top;
}
