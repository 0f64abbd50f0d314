import { type ReportedState, reporting } from './reporting.ts';
import type { Behaviour } from './server.ts';

/** Tells of one slot for ever. */
export const frozenSlot = (reported: ReportedState): Behaviour => reporting({ ...reported, slot: 4_950 });
