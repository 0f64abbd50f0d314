import type { JsonValue } from '../../base/json.ts';
import { type Epoch, slot } from '../../ledger/units.ts';
import { type GetSlotLeadersResult, parseGetSlotLeaders } from '../../protocol/rpc/getSlotLeaders.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { LocalNode } from '../node.ts';
import { epochPosition } from './epoch-position.ts';

const unavailable = (epoch: Epoch): Error =>
  invalidParams(`Invalid slot range: leader schedule for epoch ${epoch} is unavailable`);

/**
 * The node itself, as often as asked.
 * @throws RpcError -32602 when the range reaches past the epochs whose schedule is known.
 */
export function getSlotLeaders(node: LocalNode, params: JsonValue | undefined): GetSlotLeadersResult {
  const { startSlot, limit } = parseGetSlotLeaders(params);
  if (limit === 0) return [];
  const { identity, epochSchedule } = node.genesis;
  const known = node.bank('finalized').clock.leaderScheduleEpoch;
  const first = epochPosition(epochSchedule, startSlot).epoch;
  if (first > known) throw unavailable(first);
  const last = epochPosition(epochSchedule, slot(startSlot + BigInt(limit) - 1n)).epoch;
  if (last > known) throw unavailable((known + 1n) as Epoch);
  return Array<typeof identity>(limit).fill(identity);
}
