import type { UsageStatus } from '../access/usage.ts';
import type { Answer } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';

/** The failure behind whatever was thrown; what is not a Failure is ours to mend and says nothing outside. */
export const explain = (thrown: unknown): Failure =>
  thrown instanceof Failure ? thrown : new Failure('INTERNAL', { cause: thrown });

/** What a failure is counted as. */
export const statusOfFailure = ({ row }: Failure): UsageStatus => (row.limits ? 'limited' : row.owner);

/** What a call is counted as. */
export function statusOf(answer: Answer | null, failure: Failure | null): UsageStatus {
  if (failure !== null) return statusOfFailure(failure);
  return answer?.errorCode === 0 ? 'ok' : 'rpcError';
}
