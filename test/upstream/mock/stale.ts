import { type ReportedState, reporting } from './reporting.ts';
import type { Behaviour } from './server.ts';

/** Says that it is healthy, and has shreds of far newer slots than it has replayed. */
export const stale = (reported: ReportedState): Behaviour =>
  reporting({ ...reported, slot: 4_900, shreds: 5_200 });
