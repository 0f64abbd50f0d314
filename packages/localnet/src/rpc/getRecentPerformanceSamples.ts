import type { JsonValue } from '../../../../src/base/json.ts';
import { positional } from '../../../../src/protocol/rpc/parameters.ts';
import { optional, readUsize } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Slot } from '../../../../src/solana/units.ts';
import { SAMPLE_SECONDS } from '../history/performance-samples.ts';
import type { LocalNode } from '../node.ts';

/** Source: Agave `PERFORMANCE_SAMPLES_LIMIT`. */
const PERFORMANCE_SAMPLES_MAX = 720;

/** Newest first. */
type GetRecentPerformanceSamplesResult = readonly Readonly<{
  numNonVoteTransactions: bigint;
  numSlots: bigint;
  numTransactions: bigint;
  samplePeriodSecs: number;
  /** The last slot of the sample. */
  slot: Slot;
}>[];

/** `limit`; default 720. @throws RpcError -32602 "Invalid limit; max 720" */
export function parseGetRecentPerformanceSamples(params: JsonValue | undefined) {
  const limit = optional(positional(params, 0, 1)[0], readUsize) ?? BigInt(PERFORMANCE_SAMPLES_MAX);
  if (limit > PERFORMANCE_SAMPLES_MAX) {
    throw invalidParams(`Invalid limit; max ${PERFORMANCE_SAMPLES_MAX}`);
  }
  return { limit: Number(limit) };
}

export function getRecentPerformanceSamples(
  node: LocalNode,
  params: JsonValue | undefined,
): GetRecentPerformanceSamplesResult {
  const { limit } = parseGetRecentPerformanceSamples(params);
  return node.history.performanceSamples(limit).map(({ slot, slots, transactions, nonVotes }) => ({
    numNonVoteTransactions: nonVotes,
    numSlots: slots,
    numTransactions: transactions,
    samplePeriodSecs: SAMPLE_SECONDS,
    slot,
  }));
}
