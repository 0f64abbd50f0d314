import type { JsonValue } from '../../base/json.ts';
import { noParameters } from '../rpc/parameters.ts';
import type { SubscriptionOf } from '../subscriptions.ts';

/** No parameters. */
export function parseSlotSubscribe(params: JsonValue | undefined): SubscriptionOf<'slot'> {
  noParameters(params);
  return { kind: 'slot' };
}
