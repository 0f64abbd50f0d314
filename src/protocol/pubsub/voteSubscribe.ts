import type { JsonValue } from '../../base/json.ts';
import { noParameters } from '../rpc/parameters.ts';
import type { SubscriptionOf } from '../subscriptions.ts';

/** No parameters. */
export function parseVoteSubscribe(params: JsonValue | undefined): SubscriptionOf<'vote'> {
  noParameters(params);
  return { kind: 'vote' };
}
