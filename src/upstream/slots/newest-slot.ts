import type { Slot } from '../../solana/units.ts';

/** The newer of two slots; null means unknown. */
export const newer = (a: Slot | null, b: Slot | null): Slot | null =>
  a === null || b === null ? (a ?? b) : a > b ? a : b;

export function newestOf(slots: Iterable<Slot | null>): Slot | null {
  let newest: Slot | null = null;
  for (const slot of slots) newest = newer(newest, slot);
  return newest;
}
