import type { JsonValue } from '../../base/json.ts';
import { noParameters } from '../rpc/parameters.ts';
import type { SubscriptionOf } from '../subscriptions.ts';

/** No parameters. */
export function parseSlotsUpdatesSubscribe(params: JsonValue | undefined): SubscriptionOf<'slotsUpdates'> {
  noParameters(params);
  return { kind: 'slotsUpdates' };
}
