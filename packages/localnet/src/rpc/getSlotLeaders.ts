import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetSlotLeadersResult,
  parseGetSlotLeaders,
} from '../../../../src/protocol/rpc/getSlotLeaders.ts';
import type { LocalNode } from '../node.ts';
import { requireSchedules } from './leader-schedule.ts';

/** @throws RpcError -32602 beyond the known epochs. */
export function getSlotLeaders(node: LocalNode, params: JsonValue | undefined): GetSlotLeadersResult {
  const { startSlot, limit } = parseGetSlotLeaders(params);
  if (limit === 0) return [];
  requireSchedules(node, startSlot, BigInt(limit));
  const { identity } = node.genesis;
  return Array<typeof identity>(limit).fill(identity);
}
