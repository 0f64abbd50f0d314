import type { JsonValue } from '../../base/json.ts';
import { at, positional, readAccountConfig } from '../rpc/parameters.ts';
import { readString } from '../rpc/serde.ts';
import type { SubscriptionOf } from '../subscriptions.ts';
import { readSubscribedAddress } from './pubsub-keys.ts';

/** `pubkey, {encoding, commitment}`; `dataSlice` and `minContextSlot` are read and have no effect. */
export function parseAccountSubscribe(params: JsonValue | undefined): SubscriptionOf<'account'> {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const { commitment, encoding } = readAccountConfig(list[1]);
  return {
    kind: 'account',
    address: readSubscribedAddress(text),
    commitment,
    encoding: encoding ?? 'binary',
  };
}
