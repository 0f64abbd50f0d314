import { type ReportedState, reporting } from './reporting.ts';
import type { Behaviour } from './server.ts';

/** Jumps to implausible slots with its second report. */
export function lyingSlot(reported: ReportedState): Behaviour {
  let requested = 0;
  return reporting({ ...reported, slot: () => (requested++ === 0 ? 5_000 : 9_000_000 + requested) });
}
