import type { JsonValue } from '../../../../src/base/json.ts';
import { type GetBlocksResult, parseGetBlocks } from '../../../../src/protocol/rpc/getBlocks.ts';
import { requireConfirmed } from '../../../../src/protocol/rpc/parameters.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import { type Slot, slot } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

/** Slots in `[start, last]`, at most `limit`. No slot is skipped. */
export function blockSlots(node: LocalNode, start: Slot, last: bigint, limit?: bigint): Slot[] {
  const { firstAvailableSlot } = node.history;
  const slots: Slot[] = [];
  for (let at: bigint = start > firstAvailableSlot ? start : firstAvailableSlot; at <= last; at++) {
    if (limit !== undefined && slots.length >= limit) break;
    slots.push(slot(at));
  }
  return slots;
}

const RANGE_MAX = 500_000n;

export function getBlocks(node: LocalNode, params: JsonValue | undefined): GetBlocksResult {
  const { start, end, config } = parseGetBlocks(params);
  requireConfirmed(config.commitment);
  const tip = bankFor(node, config).slot;
  const wanted = end ?? start + RANGE_MAX;
  const last = wanted < tip ? wanted : tip;
  if (last - start > RANGE_MAX) throw invalidParams(`Slot range too large; max ${RANGE_MAX}`);
  return blockSlots(node, start, last);
}
