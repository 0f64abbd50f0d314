import type { JsonValue } from '../../base/json.ts';

import { noParameters } from './parameters.ts';

export type GetEpochScheduleParams = null;
/** How slots fall into epochs. */
export type GetEpochScheduleResult = Readonly<{
  firstNormalEpoch: bigint;
  firstNormalSlot: bigint;
  leaderScheduleSlotOffset: bigint;
  slotsPerEpoch: bigint;
  warmup: boolean;
}>;

/** No parameters. */
export function parseGetEpochSchedule(params: JsonValue | undefined): GetEpochScheduleParams {
  noParameters(params);
  return null;
}
