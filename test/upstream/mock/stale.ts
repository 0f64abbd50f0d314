import { type ReportedState, reporting } from './reporting.ts';
import type { Behaviour } from './server.ts';

/** Reports itself healthy but does not replay received shreds. */
export const stale = (reported: ReportedState): Behaviour =>
  reporting({ ...reported, slot: 4_900, shreds: 5_200 });
