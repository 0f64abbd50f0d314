import type { JsonValue } from '../../../../src/base/json.ts';
import {
  at,
  positional,
  readContextConfig,
  requireConfirmed,
} from '../../../../src/protocol/rpc/parameters.ts';
import { readU64, readUsize } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import { type Slot, slot } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';
import { blockSlots } from './getBlocks.ts';

/** `start, limit, {commitment, minContextSlot}`. */
export function parseGetBlocksWithLimit(params: JsonValue | undefined) {
  const list = positional(params, 2, 3);
  return {
    start: slot(at(list, 0, readU64)),
    limit: at(list, 1, readUsize),
    config: readContextConfig(list[2]),
  };
}

const LIMIT_MAX = 500_000n;

export function getBlocksWithLimit(node: LocalNode, params: JsonValue | undefined): readonly Slot[] {
  const { start, limit, config } = parseGetBlocksWithLimit(params);
  requireConfirmed(config.commitment);
  if (limit > LIMIT_MAX) throw invalidParams(`Limit too large; max ${LIMIT_MAX}`);
  return blockSlots(node, start, bankFor(node, config).slot, limit);
}
