import type { JsonValue } from '../../base/json.ts';
import { noParameters } from '../rpc/parameters.ts';
import type { SubscriptionOf } from '../subscriptions.ts';

/** No parameters. */
export function parseRootSubscribe(params: JsonValue | undefined): SubscriptionOf<'root'> {
  noParameters(params);
  return { kind: 'root' };
}
