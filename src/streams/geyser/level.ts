import { type Commitment, commitments } from '../../protocol/commitment.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';

/** How far a slot has come: an index of `commitments`. */
export type Level = 0 | 1 | 2;

/** The level of a commitment; processed where none is named. */
export const levelOf = (commitment: Commitment = 'processed'): Level =>
  commitments.indexOf(commitment) as Level;

const levelByStatus: Readonly<Partial<Record<SlotStatus, Level>>> = {
  processed: 0,
  confirmed: 1,
  finalized: 2,
};

/** The level that a status says a slot has reached; undefined when it only says how the slot is made. */
export const levelOfStatus = (status: SlotStatus): Level | undefined => levelByStatus[status];
