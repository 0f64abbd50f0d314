import type { JsonValue } from '../../base/json.ts';
import {
  type GetBlocksWithLimitResult,
  parseGetBlocksWithLimit,
} from '../../protocol/rpc/getBlocksWithLimit.ts';
import { requireConfirmed } from '../../protocol/rpc/parameters.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { LocalNode } from '../node.ts';
import { blockSlots } from './block-slots.ts';
import { bankFor } from './context.ts';

const LIMIT_MAX = 500_000n;

/** The first slots at or after one that have a block. */
export function getBlocksWithLimit(node: LocalNode, params: JsonValue | undefined): GetBlocksWithLimitResult {
  const { start, limit, config } = parseGetBlocksWithLimit(params);
  requireConfirmed(config.commitment);
  if (limit > LIMIT_MAX) throw invalidParams(`Limit too large; max ${LIMIT_MAX}`);
  return blockSlots(node, start, bankFor(node, config).slot, limit);
}
