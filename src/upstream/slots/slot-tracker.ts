import type { Network } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import type { Slot } from '../../solana/units.ts';

export type ObservedSlot = Readonly<{
  slot: Slot;
  /** On the `performance.now()` clock. */
  atMs: number;
}>;

export interface SlotTracker {
  /** Newest slot, reached by at least two nodes if possible; null if unknown. Called per request: must not allocate. */
  slotAt(network: Network, commitment: Commitment): ObservedSlot | null;
}

/** About half a minute of slots. */
const AHEAD_MAX_SLOTS = 64n;

/** Whether a chain last seen at `observed` can plausibly have reached the slot; true if `observed` is null. */
export const isPlausible = (slot: Slot, observed: ObservedSlot | null): boolean =>
  observed === null || slot - observed.slot <= AHEAD_MAX_SLOTS;

export const emptySlotTracker: SlotTracker = { slotAt: () => null };
