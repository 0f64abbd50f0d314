import type { JsonValue } from '../../base/json.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { at, type ContextConfig, positional, readContextConfig } from './parameters.ts';
import { readU64, readUsize } from './serde.ts';

export type GetBlocksWithLimitParams = Readonly<{ start: Slot; limit: bigint; config: ContextConfig }>;
export type GetBlocksWithLimitResult = readonly Slot[];

/** `start, limit, {commitment, minContextSlot}`. */
export function parseGetBlocksWithLimit(params: JsonValue | undefined): GetBlocksWithLimitParams {
  const list = positional(params, 2, 3);
  return {
    start: slot(at(list, 0, readU64)),
    limit: at(list, 1, readUsize),
    config: readContextConfig(list[2]),
  };
}
