import type { JsonValue } from '../../base/json.ts';
import { configObject, positional, readDataSlice } from '../../protocol/rpc/parameters.ts';
import { member, optional, readBoolean } from '../../protocol/rpc/serde.ts';
import type { SubscriptionKind } from '../../protocol/subscriptions.ts';

/**
 * Those parameters of a subscription that change nothing of what it tells, as a text. To Agave two that differ in
 * them are two all the same, with an id each. Source: agave rpc/src/rpc_subscription_tracker.rs,
 * `AccountSubscriptionParams` and `ProgramSubscriptionParams`.
 * @param params - as `parseSubscription` took them.
 */
export function idleParameters(kind: SubscriptionKind, params: JsonValue | undefined): string {
  if (kind !== 'account' && kind !== 'program') return '';
  const config = configObject(positional(params, 1, 2)[1], 'RpcAccountInfoConfig');
  const slice = optional(member(config, 'dataSlice'), readDataSlice);
  const withContext = kind === 'program' && optional(member(config, 'withContext'), readBoolean) === true;
  return `${slice === null ? '' : `${slice.offset},${slice.length}`} ${withContext}`;
}
