import type { JsonValue } from '../../base/json.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { at, exactly } from './parameters.ts';
import { readU64 } from './serde.ts';

export type GetBlockCommitmentParams = Readonly<{ slot: Slot }>;
/** Lamports that voted for the block, by the number of confirmations; null for a block nobody knows. */
export type GetBlockCommitmentResult = Readonly<{
  commitment: readonly bigint[] | null;
  totalStake: bigint;
}>;

/** `slot`; it is required. */
export const parseGetBlockCommitment = (params: JsonValue | undefined): GetBlockCommitmentParams => ({
  slot: slot(at(exactly(params, 1), 0, readU64)),
});
