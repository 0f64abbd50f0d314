import { type Epoch, epoch, type Slot } from '../../solana/units.ts';
import type { EpochSchedule } from '../node.ts';

/** Where a slot stands in its epoch. The embedded ledger has no warm-up: all epochs are equally long. */
export function epochPosition(
  { slotsPerEpoch }: EpochSchedule,
  slot: Slot,
): Readonly<{ epoch: Epoch; slotIndex: bigint }> {
  return { epoch: epoch(slot / slotsPerEpoch), slotIndex: slot % slotsPerEpoch };
}
