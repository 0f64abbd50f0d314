import type { JsonValue } from '../../base/json.ts';
import { at, configObject, lenientCommitment, positional } from '../rpc/parameters.ts';
import { member, optional, readBoolean, readString } from '../rpc/serde.ts';
import type { SubscriptionOf } from '../subscriptions.ts';
import { readSubscribedSignature } from './pubsub-keys.ts';

/** `signature, {commitment, enableReceivedNotification}`. */
export function parseSignatureSubscribe(params: JsonValue | undefined): SubscriptionOf<'signature'> {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = configObject(list[1], 'RpcSignatureSubscribeConfig');
  const received = optional(member(config, 'enableReceivedNotification'), readBoolean) ?? false;
  return {
    kind: 'signature',
    signature: readSubscribedSignature(text),
    commitment: lenientCommitment(config),
    received,
  };
}
