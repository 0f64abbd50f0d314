import type { JsonValue } from '../../base/json.ts';
import type { Slot } from '../../solana/units.ts';
import { invalidParams } from '../rpc-error.ts';
import { positional } from './parameters.ts';
import { optional, readUsize } from './serde.ts';

/** Source: Agave `PERFORMANCE_SAMPLES_LIMIT`. */
export const PERFORMANCE_SAMPLES_MAX = 720;

export type GetRecentPerformanceSamplesParams = Readonly<{ limit: number }>;
/** Newest first. */
export type GetRecentPerformanceSamplesResult = readonly Readonly<{
  numNonVoteTransactions: bigint;
  numSlots: bigint;
  numTransactions: bigint;
  samplePeriodSecs: number;
  /** The last slot of the sample. */
  slot: Slot;
}>[];

/** `limit`; 720 when it is left out. @throws RpcError -32602 "Invalid limit; max 720" */
export function parseGetRecentPerformanceSamples(
  params: JsonValue | undefined,
): GetRecentPerformanceSamplesParams {
  const limit = optional(positional(params, 0, 1)[0], readUsize) ?? BigInt(PERFORMANCE_SAMPLES_MAX);
  if (limit > PERFORMANCE_SAMPLES_MAX) {
    throw invalidParams(`Invalid limit; max ${PERFORMANCE_SAMPLES_MAX}`);
  }
  return { limit: Number(limit) };
}
