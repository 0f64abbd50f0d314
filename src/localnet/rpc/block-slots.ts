import { type Slot, slot } from '../../solana/units.ts';
import type { LocalNode } from '../node.ts';

/** Slots in `[start, last]` that have a block, at most `limit`. The embedded ledger skips no slot. */
export function blockSlots(node: LocalNode, start: Slot, last: bigint, limit?: bigint): Slot[] {
  const { firstAvailableSlot } = node.history;
  const slots: Slot[] = [];
  for (let at: bigint = start > firstAvailableSlot ? start : firstAvailableSlot; at <= last; at++) {
    if (limit !== undefined && slots.length >= limit) break;
    slots.push(slot(at));
  }
  return slots;
}
