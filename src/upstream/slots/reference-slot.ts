import type { Slot } from '../../solana/units.ts';

/** Fewer nodes cannot outvote one that is ahead. */
export const OUTVOTE_MIN = 3;

/**
 * The slot that nodes are compared with: the newest, unless a single node of three or more is too far ahead,
 * so that one false report cannot exclude the rest.
 */
export function referenceSlot(slots: readonly Slot[], lagMaxSlots: number): Slot | null {
  const [top, second] = [...slots].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  if (top === undefined || second === undefined || slots.length < OUTVOTE_MIN) return top ?? null;
  return top - second > BigInt(lagMaxSlots) ? second : top;
}
