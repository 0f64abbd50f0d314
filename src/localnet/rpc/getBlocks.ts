import type { JsonValue } from '../../base/json.ts';
import { type GetBlocksResult, parseGetBlocks } from '../../protocol/rpc/getBlocks.ts';
import { requireConfirmed } from '../../protocol/rpc/parameters.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { LocalNode } from '../node.ts';
import { blockSlots } from './block-slots.ts';
import { bankFor } from './context.ts';

const RANGE_MAX = 500_000n;

/** The slots between two that have a block. */
export function getBlocks(node: LocalNode, params: JsonValue | undefined): GetBlocksResult {
  const { start, end, config } = parseGetBlocks(params);
  requireConfirmed(config.commitment);
  const tip = bankFor(node, config).slot;
  const wanted = end ?? start + RANGE_MAX;
  const last = wanted < tip ? wanted : tip;
  if (last - start > RANGE_MAX) throw invalidParams(`Slot range too large; max ${RANGE_MAX}`);
  return blockSlots(node, start, last);
}
