import type { JsonValue } from '../../base/json.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { at, exactly } from './parameters.ts';
import { readU64 } from './serde.ts';

export type GetBlockTimeParams = Readonly<{ slot: Slot }>;
/** Unix seconds. */
export type GetBlockTimeResult = bigint | null;

/** `slot`. */
export const parseGetBlockTime = (params: JsonValue | undefined): GetBlockTimeParams => ({
  slot: slot(at(exactly(params, 1), 0, readU64)),
});
