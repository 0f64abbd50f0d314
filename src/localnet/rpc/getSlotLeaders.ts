import type { JsonValue } from '../../base/json.ts';
import { type GetSlotLeadersResult, parseGetSlotLeaders } from '../../protocol/rpc/getSlotLeaders.ts';
import type { LocalNode } from '../node.ts';
import { requireSchedules } from './leader-schedule-cache.ts';

/**
 * The node itself, as often as asked.
 * @throws RpcError -32602 when the range leaves the epochs whose schedule is known.
 */
export function getSlotLeaders(node: LocalNode, params: JsonValue | undefined): GetSlotLeadersResult {
  const { startSlot, limit } = parseGetSlotLeaders(params);
  if (limit === 0) return [];
  requireSchedules(node, startSlot, BigInt(limit));
  const { identity } = node.genesis;
  return Array<typeof identity>(limit).fill(identity);
}
