import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { Slot } from '../../solana/units.ts';
import { limitInputs, positional, readAddress } from './parameters.ts';
import { optional, readStrings } from './serde.ts';

export const LOCKED_ACCOUNTS_MAX = 128;

export type GetRecentPrioritizationFeesParams = Readonly<{ accounts: readonly Address[] }>;
/** `prioritizationFee` in micro-lamports per compute unit. */
export type GetRecentPrioritizationFeesResult = readonly Readonly<{
  slot: Slot;
  prioritizationFee: bigint;
}>[];

/** `[addresses]`, at most 128. */
export function parseGetRecentPrioritizationFees(
  params: JsonValue | undefined,
): GetRecentPrioritizationFeesParams {
  const texts = optional(positional(params, 0, 1)[0], readStrings) ?? [];
  limitInputs(texts, LOCKED_ACCOUNTS_MAX);
  return { accounts: texts.map(readAddress) };
}
