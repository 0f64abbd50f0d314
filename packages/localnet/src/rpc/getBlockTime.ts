import type { JsonValue } from '../../../../src/base/json.ts';
import { at, exactly } from '../../../../src/protocol/rpc/parameters.ts';
import { readU64 } from '../../../../src/protocol/rpc/serde.ts';
import { slot } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { missingBlock } from './getBlock.ts';
import { blockNotAvailable } from './history-errors.ts';

/** `slot`. */
export const parseGetBlockTime = (params: JsonValue | undefined) => ({
  slot: slot(at(exactly(params, 1), 0, readU64)),
});

/** At any commitment. */
export function getBlockTime(node: LocalNode, params: JsonValue | undefined): bigint | null {
  const { slot } = parseGetBlockTime(params);
  if (slot === 0n) return node.genesis.creationTime;
  const time = node.history.blockTime(slot);
  if (time !== null) return time;
  throw slot <= node.bank('finalized').slot ? missingBlock(node, slot) : blockNotAvailable(slot);
}
