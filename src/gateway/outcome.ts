import type { RpcResponse } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import type { UsageStatus } from './metering/usage-meter.ts';

/** The failure behind whatever was thrown; what is not a Failure is ours to mend and says nothing outside. */
export const toFailure = (thrown: unknown): Failure =>
  thrown instanceof Failure ? thrown : new Failure('INTERNAL', { cause: thrown });

/** What a failure is counted as. */
export const statusOfFailure = ({ row }: Failure): UsageStatus => (row.limits ? 'limited' : row.owner);

/** What a call is counted as. */
export function statusOf(response: RpcResponse | null, failure: Failure | null): UsageStatus {
  if (failure !== null) return statusOfFailure(failure);
  return response?.errorCode === 0 ? 'ok' : 'rpcError';
}
