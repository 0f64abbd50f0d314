import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetEpochScheduleResult,
  parseGetEpochSchedule,
} from '../../../../src/protocol/rpc/getEpochSchedule.ts';
import type { LocalNode } from '../node.ts';

export function getEpochSchedule(node: LocalNode, params: JsonValue | undefined): GetEpochScheduleResult {
  parseGetEpochSchedule(params);
  const schedule = node.genesis.epochSchedule;
  return {
    firstNormalEpoch: schedule.firstNormalEpoch,
    firstNormalSlot: schedule.firstNormalSlot,
    leaderScheduleSlotOffset: schedule.leaderScheduleSlotOffset,
    slotsPerEpoch: schedule.slotsPerEpoch,
    warmup: schedule.warmup,
  };
}
