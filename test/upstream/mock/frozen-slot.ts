import { type ReportedState, reporting } from './reporting.ts';
import type { Behaviour } from './server.ts';

/** Reports one slot forever. */
export const frozenSlot = (reported: ReportedState): Behaviour => reporting({ ...reported, slot: 4_950 });
