import type { JsonValue } from '../../base/json.ts';

import { type ContextConfig, positional, readContextConfig } from './parameters.ts';

export type GetBlockHeightParams = Readonly<{ config: ContextConfig }>;
/** Blocks below the bank; a u64. */
export type GetBlockHeightResult = bigint;

/** `{commitment, minContextSlot}`. */
export const parseGetBlockHeight = (params: JsonValue | undefined): GetBlockHeightParams => ({
  config: readContextConfig(positional(params, 0, 1)[0]),
});
