import { invalidParams } from '../../protocol/rpc-error.ts';
import { type Epoch, epoch, type Slot, slot } from '../../solana/units.ts';
import type { LocalNode } from '../node.ts';
import { epochPosition } from './epoch-position.ts';

/** Leader schedules that a node keeps. Source: agave ledger/src/leader_schedule_cache.rs, `MAX_SCHEDULES`. */
const SCHEDULES_MAX = 10n;

/** Whether the node knows who leads in an epoch: in the newest that the rooted state settles and nine before. */
export function hasSchedule(node: LocalNode, wanted: Epoch): boolean {
  const newest = node.bank('finalized').clock.leaderScheduleEpoch;
  return wanted <= newest && wanted + SCHEDULES_MAX > newest;
}

/**
 * Makes sure that the leaders of a range of slots are known.
 * @param count - slots in the range, not 0.
 * @throws RpcError -32602 for the first epoch in it whose schedule is not.
 */
export function requireSchedules(node: LocalNode, first: Slot, count: bigint): void {
  const { epochSchedule } = node.genesis;
  const last = epochPosition(epochSchedule, slot(first + count - 1n)).epoch;
  let at = epochPosition(epochSchedule, first).epoch;
  // Epochs that are known are few and in a row, so this ends soon.
  while (at <= last && hasSchedule(node, at)) at = epoch(at + 1n);
  if (at > last) return;
  throw invalidParams(`Invalid slot range: leader schedule for epoch ${at} is unavailable`);
}
