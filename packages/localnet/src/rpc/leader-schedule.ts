import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import { type Epoch, epoch, type Slot, slot } from '../../../../src/solana/units.ts';
import type { EpochSchedule, LocalNode } from '../node.ts';

/** All epochs have equal length: there is no warm-up. */
export function epochPosition(
  { slotsPerEpoch }: EpochSchedule,
  slot: Slot,
): Readonly<{ epoch: Epoch; slotIndex: bigint }> {
  return { epoch: epoch(slot / slotsPerEpoch), slotIndex: slot % slotsPerEpoch };
}

/** Source: agave ledger/src/leader_schedule_cache.rs, `MAX_SCHEDULES`. */
const SCHEDULES_MAX = 10n;

/** Newest epoch whose stakes the rooted state determines, and the nine before it. */
export function hasSchedule(node: LocalNode, wanted: Epoch): boolean {
  const newest = node.bank('finalized').clock.leaderScheduleEpoch;
  return wanted <= newest && wanted + SCHEDULES_MAX > newest;
}

/**
 * @param count - slots in the range, not 0.
 * @throws RpcError -32602 for the first unknown epoch.
 */
export function requireSchedules(node: LocalNode, first: Slot, count: bigint): void {
  const { epochSchedule } = node.genesis;
  const last = epochPosition(epochSchedule, slot(first + count - 1n)).epoch;
  let at = epochPosition(epochSchedule, first).epoch;
  // Known epochs are few and contiguous.
  while (at <= last && hasSchedule(node, at)) at = epoch(at + 1n);
  if (at > last) return;
  throw invalidParams(`Invalid slot range: leader schedule for epoch ${at} is unavailable`);
}
