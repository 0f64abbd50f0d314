import type { JsonValue } from '../../base/json.ts';

import { type ContextConfig, positional, readContextConfig } from './parameters.ts';

export type GetTransactionCountParams = Readonly<{ config: ContextConfig }>;
/** Transactions since genesis; a u64. */
export type GetTransactionCountResult = bigint;

/** `{commitment, minContextSlot}`. */
export const parseGetTransactionCount = (params: JsonValue | undefined): GetTransactionCountParams => ({
  config: readContextConfig(positional(params, 0, 1)[0]),
});
