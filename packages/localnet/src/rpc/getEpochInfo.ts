import type { JsonValue } from '../../../../src/base/json.ts';
import { type GetEpochInfoResult, parseGetEpochInfo } from '../../../../src/protocol/rpc/getEpochInfo.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';
import { epochPosition } from './leader-schedule.ts';

export function getEpochInfo(node: LocalNode, params: JsonValue | undefined): GetEpochInfoResult {
  const bank = bankFor(node, parseGetEpochInfo(params).config);
  const { epochSchedule } = node.genesis;
  const { epoch, slotIndex } = epochPosition(epochSchedule, bank.slot);
  return {
    absoluteSlot: bank.slot,
    blockHeight: bank.blockHeight,
    epoch,
    slotIndex,
    slotsInEpoch: epochSchedule.slotsPerEpoch,
    transactionCount: bank.transactionCount,
  };
}
