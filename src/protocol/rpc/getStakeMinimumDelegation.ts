import type { JsonValue } from '../../base/json.ts';
import type { Lamports } from '../../solana/units.ts';
import { type ContextConfig, positional, readContextConfig } from './parameters.ts';

export type GetStakeMinimumDelegationParams = Readonly<{ config: ContextConfig }>;
/** Lamports, inside a context. */
export type GetStakeMinimumDelegationResult = Lamports;

/** `{commitment, minContextSlot}`. */
export const parseGetStakeMinimumDelegation = (
  params: JsonValue | undefined,
): GetStakeMinimumDelegationParams => ({
  config: readContextConfig(positional(params, 0, 1)[0]),
});
