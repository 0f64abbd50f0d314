import { blockCleanedUp, slotSkipped } from '../../protocol/rpc/history-errors.ts';
import type { RpcError } from '../../protocol/rpc-error.ts';
import type { Slot } from '../../solana/units.ts';
import type { LocalNode } from '../node.ts';

/** Why there is no block at a finalized slot. */
export function missingBlock(node: LocalNode, slot: Slot): RpcError {
  const first = node.history.firstAvailableSlot;
  return slot < first ? blockCleanedUp(slot, first) : slotSkipped(slot);
}
