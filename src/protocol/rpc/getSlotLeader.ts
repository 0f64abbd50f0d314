import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { type ContextConfig, positional, readContextConfig } from './parameters.ts';

export type GetSlotLeaderParams = Readonly<{ config: ContextConfig }>;
/** The node that leads the slot. */
export type GetSlotLeaderResult = Address;

/** `{commitment, minContextSlot}`. */
export const parseGetSlotLeader = (params: JsonValue | undefined): GetSlotLeaderParams => ({
  config: readContextConfig(positional(params, 0, 1)[0]),
});
