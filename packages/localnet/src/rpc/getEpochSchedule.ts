import type { JsonValue } from '../../../../src/base/json.ts';
import { noParameters } from '../../../../src/protocol/rpc/parameters.ts';
import type { LocalNode } from '../node.ts';

/** How slots are grouped into epochs. */
type GetEpochScheduleResult = Readonly<{
  firstNormalEpoch: bigint;
  firstNormalSlot: bigint;
  leaderScheduleSlotOffset: bigint;
  slotsPerEpoch: bigint;
  warmup: boolean;
}>;

export function getEpochSchedule(node: LocalNode, params: JsonValue | undefined): GetEpochScheduleResult {
  noParameters(params);
  const schedule = node.genesis.epochSchedule;
  return {
    firstNormalEpoch: schedule.firstNormalEpoch,
    firstNormalSlot: schedule.firstNormalSlot,
    leaderScheduleSlotOffset: schedule.leaderScheduleSlotOffset,
    slotsPerEpoch: schedule.slotsPerEpoch,
    warmup: schedule.warmup,
  };
}
