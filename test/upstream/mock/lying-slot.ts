import type { Behaviour } from './server.ts';
import { type Told, telling } from './telling.ts';

/** Leaps at its second word to slots that no chain has come to. */
export function lyingSlot(told: Told): Behaviour {
  let asked = 0;
  return telling({ ...told, slot: () => (asked++ === 0 ? 5_000 : 9_000_000 + asked) });
}
