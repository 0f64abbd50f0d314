import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetRecentPerformanceSamplesResult,
  parseGetRecentPerformanceSamples,
} from '../../../../src/protocol/rpc/getRecentPerformanceSamples.ts';
import { SAMPLE_SECONDS } from '../history/performance-samples.ts';
import type { LocalNode } from '../node.ts';

/** The node votes without transactions. */
export function getRecentPerformanceSamples(
  node: LocalNode,
  params: JsonValue | undefined,
): GetRecentPerformanceSamplesResult {
  const { limit } = parseGetRecentPerformanceSamples(params);
  return node.history.performanceSamples(limit).map(({ slot, slots, transactions }) => ({
    numNonVoteTransactions: transactions,
    numSlots: slots,
    numTransactions: transactions,
    samplePeriodSecs: SAMPLE_SECONDS,
    slot,
  }));
}
