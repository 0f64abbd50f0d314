import type { JsonValue } from '../../base/json.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import { type ContextConfig, positional, readContextConfig } from './parameters.ts';

export type GetLatestBlockhashParams = Readonly<{ config: ContextConfig }>;
export type GetLatestBlockhashResult = Readonly<{ blockhash: Blockhash; lastValidBlockHeight: bigint }>;

/** `{commitment, minContextSlot}`. */
export const parseGetLatestBlockhash = (params: JsonValue | undefined): GetLatestBlockhashParams => ({
  config: readContextConfig(positional(params, 0, 1)[0]),
});
