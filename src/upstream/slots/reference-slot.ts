import type { Slot } from '../../solana/units.ts';

/** Fewer nodes cannot outvote one that is ahead. */
export const OUTVOTE_MIN = 3;

/** The newest, unless one of three or more nodes is too far ahead: a false report cannot exclude the rest. */
export function referenceSlot(slots: readonly Slot[], lagMaxSlots: number): Slot | null {
  const [top, second] = [...slots].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  if (top === undefined || second === undefined || slots.length < OUTVOTE_MIN) return top ?? null;
  return top - second > BigInt(lagMaxSlots) ? second : top;
}
