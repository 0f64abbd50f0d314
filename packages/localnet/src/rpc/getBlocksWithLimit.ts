import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetBlocksWithLimitResult,
  parseGetBlocksWithLimit,
} from '../../../../src/protocol/rpc/getBlocksWithLimit.ts';
import { requireConfirmed } from '../../../../src/protocol/rpc/parameters.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';
import { blockSlots } from './getBlocks.ts';

const LIMIT_MAX = 500_000n;

export function getBlocksWithLimit(node: LocalNode, params: JsonValue | undefined): GetBlocksWithLimitResult {
  const { start, limit, config } = parseGetBlocksWithLimit(params);
  requireConfirmed(config.commitment);
  if (limit > LIMIT_MAX) throw invalidParams(`Limit too large; max ${LIMIT_MAX}`);
  return blockSlots(node, start, bankFor(node, config).slot, limit);
}
