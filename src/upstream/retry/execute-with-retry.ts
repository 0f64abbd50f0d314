import type { Call, PendingCall, ResponseHandler } from '../../protocol/call.ts';
import type { NodeGroup } from '../node-group.ts';
import { RetryExecutor } from './retry-executor.ts';
import { RetryState } from './retry-state.ts';

/**
 * Puts a call to one node after another until one answers it, as the rules for its nature allow; a read may be put to a
 * second one while the first is late. It fails when nobody answered: UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT, OVERLOADED,
 * ANSWER_TOO_LARGE; or as the caller's, when every node that was asked refused the request as such: BODY_TOO_LARGE,
 * INVALID_REQUEST; or CLIENT_GONE, when whoever asked left.
 */
export function executeWithRetry(group: NodeGroup, call: Call, handler: ResponseHandler): PendingCall {
  group.onCallStart(call);
  const state = new RetryState(call, group);
  const executor = new RetryExecutor(state, handler);
  executor.tryNext(state.startedAt);
  return executor;
}
