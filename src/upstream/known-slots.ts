import type { Slot } from '../ledger/units.ts';
import type { Network } from '../protocol/call.ts';
import type { Commitment } from '../protocol/commitment.ts';

/** A slot, and when a node last told that it is the newest one. */
export type KnownSlot = Readonly<{
  slot: Slot;
  /** `performance.now()` of when it was told, or told again. */
  atMs: number;
}>;

/** How far the chains have come, as the nodes tell that are healthy and in service. */
export interface KnownSlots {
  /**
   * The newest slot of a commitment that a node which is asked now can answer for: not one that a single node is
   * alone with, and of `finalized` only what those nodes hold as whole blocks. It is read for every call, so that it
   * makes nothing.
   * @returns null while nothing is known, or no node is healthy.
   */
  slotAt(network: Network, commitment: Commitment): KnownSlot | null;
}

/** Nothing is known: every question is one for a node. */
export const nothingKnown: KnownSlots = { slotAt: () => null };
