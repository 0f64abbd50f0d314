import type { JsonValue } from '../../../../src/base/json.ts';
import { type GetBlockTimeResult, parseGetBlockTime } from '../../../../src/protocol/rpc/getBlockTime.ts';
import { blockNotAvailable } from '../../../../src/protocol/rpc/history-errors.ts';
import type { LocalNode } from '../node.ts';
import { missingBlock } from './getBlock.ts';

/** At any commitment. */
export function getBlockTime(node: LocalNode, params: JsonValue | undefined): GetBlockTimeResult {
  const { slot } = parseGetBlockTime(params);
  if (slot === 0n) return node.genesis.creationTime;
  const time = node.history.blockTime(slot);
  if (time !== null) return time;
  throw slot <= node.bank('finalized').slot ? missingBlock(node, slot) : blockNotAvailable(slot);
}
