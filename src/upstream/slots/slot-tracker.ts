import type { Network } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import type { Slot } from '../../solana/units.ts';

/** A slot, and when a node last told that it is the newest one. */
export type ObservedSlot = Readonly<{
  slot: Slot;
  /** `performance.now()` of when it was told, or told again. */
  atMs: number;
}>;

/** How far the chains have come, as the nodes tell that are healthy and in service. */
export interface SlotTracker {
  /**
   * The newest slot of a commitment that a node which is asked now can answer for: not one that a single node is
   * alone with, and of `finalized` only what those nodes hold as whole blocks. It is read for every call, so that it
   * makes nothing.
   * @returns null while nothing is known, or no node is healthy.
   */
  slotAt(network: Network, commitment: Commitment): ObservedSlot | null;
}

/** What one answer says may be so much newer than what is known of all, and no more: about half a minute. */
const AHEAD_MAX_SLOTS = 64n;

/** Whether a chain that was known to be there can have come to this slot since; where nothing is known, it can. */
export const isPlausible = (slot: Slot, observed: ObservedSlot | null): boolean =>
  observed === null || slot - observed.slot <= AHEAD_MAX_SLOTS;

/** Nothing is known: every question is one for a node. */
export const emptySlotTracker: SlotTracker = { slotAt: () => null };
