import type { JsonValue, WritableJson } from '../../base/json.ts';
import { parseSubscription } from '../../protocol/pubsub/parse-subscription.ts';
import { invalidSubscriptionId, parseUnsubscribe } from '../../protocol/pubsub/unsubscribe.ts';
import { type SubscriptionKind, subscriptions } from '../../protocol/subscriptions.ts';
import type { Methods } from '../http/handle-request.ts';
import type { LocalNode } from '../node.ts';
import { getVersion } from '../rpc/getVersion.ts';
import { idleParameters } from './idle-parameters.ts';
import type { Holder, Topics } from './subscriptions.ts';

/** Agave's own; `transaction` is not among them. */
const kinds = (Object.keys(subscriptions) as SubscriptionKind[]).filter((kind) => kind !== 'transaction');

type Method = (params: JsonValue | undefined) => WritableJson;

/** What a connection may call. Source: Agave rpc/src/rpc_pubsub.rs, `RpcSolPubSubInternal`. */
export function methodsOf(node: LocalNode, topics: Topics, holder: Holder, held: Set<number>): Methods {
  const subscribe = (kind: SubscriptionKind, params: JsonValue | undefined): number => {
    const id = topics.hold(parseSubscription(kind, params), holder, idleParameters(kind, params));
    held.add(id);
    return id;
  };
  const unsubscribe = (params: JsonValue | undefined): true => {
    const id = Number(parseUnsubscribe(params));
    if (!held.delete(id)) throw invalidSubscriptionId();
    topics.release(id, holder);
    return true;
  };
  const methods = new Map<string, Method>([['getVersion', (params) => getVersion(node, params)]]);
  for (const kind of kinds) {
    methods.set(subscriptions[kind].subscribe, (params) => subscribe(kind, params));
    methods.set(subscriptions[kind].unsubscribe, unsubscribe);
  }
  return methods;
}
