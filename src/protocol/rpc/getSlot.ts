import type { JsonValue } from '../../base/json.ts';
import type { Slot } from '../../solana/units.ts';
import { type ContextConfig, positional, readContextConfig } from './parameters.ts';

export type GetSlotParams = Readonly<{ config: ContextConfig }>;
export type GetSlotResult = Slot;

/** `{commitment, minContextSlot}`. */
export const parseGetSlot = (params: JsonValue | undefined): GetSlotParams => ({
  config: readContextConfig(positional(params, 0, 1)[0]),
});
