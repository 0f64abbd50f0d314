import type { JsonValue } from '../../base/json.ts';
import type { Epoch, Slot } from '../../solana/units.ts';
import { type ContextConfig, positional, readContextConfig } from './parameters.ts';

export type GetEpochInfoParams = Readonly<{ config: ContextConfig }>;
export type GetEpochInfoResult = Readonly<{
  absoluteSlot: Slot;
  blockHeight: bigint;
  epoch: Epoch;
  /** Position of the slot in its epoch. */
  slotIndex: bigint;
  slotsInEpoch: bigint;
  transactionCount: bigint;
}>;

/** `{commitment, minContextSlot}`. */
export const parseGetEpochInfo = (params: JsonValue | undefined): GetEpochInfoParams => ({
  config: readContextConfig(positional(params, 0, 1)[0]),
});
