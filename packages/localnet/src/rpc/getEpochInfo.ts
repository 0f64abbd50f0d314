import type { JsonValue } from '../../../../src/base/json.ts';
import { readOnlyContextConfig } from '../../../../src/protocol/rpc/parameters.ts';
import type { Epoch, Slot } from '../../../../src/solana/units.ts';
import type { Bank, LocalNode } from '../node.ts';
import { bankFor } from './context.ts';
import { epochPosition } from './leader-schedule.ts';

type GetEpochInfoResult = Readonly<{
  absoluteSlot: Slot;
  blockHeight: bigint;
  epoch: Epoch;
  /** Position of the slot in its epoch. */
  slotIndex: bigint;
  slotsInEpoch: bigint;
  transactionCount: bigint;
}>;

export const getEpochInfo = (node: LocalNode, params: JsonValue | undefined): GetEpochInfoResult =>
  epochInfoOf(node, bankFor(node, readOnlyContextConfig(params)));

export function epochInfoOf({ genesis }: LocalNode, bank: Bank): GetEpochInfoResult {
  const { epochSchedule } = genesis;
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
