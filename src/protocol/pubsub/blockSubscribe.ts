import type { JsonValue } from '../../base/json.ts';
import { at, configObject, lenientCommitment, positional, requireConfirmed } from '../rpc/parameters.ts';
import { payloadOf, readString, readTagged, withoutPayload } from '../rpc/serde.ts';
import type { SubscriptionOf } from '../subscriptions.ts';
import { readSubscribedAddress } from './pubsub-keys.ts';
import { transactionViewOf } from './transaction-view.ts';

/** The address that transactions must mention, as text; null for all of them. */
function readFilter(value: JsonValue): string | null {
  const tagged = readTagged(value, ['all', 'mentionsAccountOrProgram']);
  if (tagged.variant === 'mentionsAccountOrProgram') return payloadOf(tagged, readString);
  withoutPayload(tagged);
  return null;
}

/**
 * `"all" | {mentionsAccountOrProgram: pubkey}, {commitment, encoding, transactionDetails, showRewards,
 * maxSupportedTransactionVersion}`. The commitment is judged before the address.
 */
export function parseBlockSubscribe(params: JsonValue | undefined): SubscriptionOf<'block'> {
  const list = positional(params, 1, 2);
  const mentioned = at(list, 0, readFilter);
  const config = configObject(list[1], 'RpcBlockSubscribeConfig');
  const view = transactionViewOf(config);
  const commitment = lenientCommitment(config);
  requireConfirmed(commitment);
  const mentions =
    mentioned === null ? null : readSubscribedAddress(mentioned, 'mentions_account_or_program');
  return { kind: 'block', mentions, commitment, ...view };
}
