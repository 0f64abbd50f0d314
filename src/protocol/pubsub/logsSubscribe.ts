import type { JsonValue } from '../../base/json.ts';
import { at, configObject, lenientCommitment, positional } from '../rpc/parameters.ts';
import { payloadOf, readStrings, readTagged, withoutPayload } from '../rpc/serde.ts';
import { invalidParams } from '../rpc-error.ts';
import type { SubscriptionOf } from '../subscriptions.ts';
import { readSubscribedAddress } from './pubsub-keys.ts';

type Filter = 'all' | 'allWithVotes' | readonly string[];

function readFilter(value: JsonValue): Filter {
  const tagged = readTagged(value, ['all', 'allWithVotes', 'mentions']);
  if (tagged.variant === 'mentions') return payloadOf(tagged, readStrings);
  withoutPayload(tagged);
  return tagged.variant;
}

function onlyMention(texts: readonly string[]) {
  const [text, ...others] = texts;
  if (text === undefined || others.length > 0) {
    throw invalidParams('Invalid Request: Only 1 address supported');
  }
  return { mentions: readSubscribedAddress(text, 'mentions') };
}

/** `"all" | "allWithVotes" | {mentions: [pubkey]}, {commitment}`. */
export function parseLogsSubscribe(params: JsonValue | undefined): SubscriptionOf<'logs'> {
  const list = positional(params, 1, 2);
  const filter = at(list, 0, readFilter);
  const commitment = lenientCommitment(configObject(list[1], 'RpcTransactionLogsConfig'));
  return { kind: 'logs', of: typeof filter === 'string' ? filter : onlyMention(filter), commitment };
}
