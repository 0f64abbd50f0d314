import { parseJson } from '../../src/base/json.ts';
import { parseSubscription } from '../../src/protocol/pubsub/parse-subscription.ts';
import { topicKey, upstreamParams } from '../../src/protocol/pubsub/topic-key.ts';
import { parseRawUnsubscribe } from '../../src/protocol/pubsub/parse-subscription.ts';
import { RpcError } from '../../src/protocol/rpc-error.ts';
import { type SubscriptionKind, subscriptions } from '../../src/protocol/subscriptions.ts';
import { accepted } from './engine/accepted.ts';

export const from = 'clients';
export const covers = ['protocol/pubsub/'];

const kinds = Object.keys(subscriptions) as SubscriptionKind[];

const KEY = '"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"';
const SIGNATURE =
  '"5h6xBEauJ3PK6SWCZ1PGjBvj8vDdWG3KpwATGy1ARAXFSDwt8GFXM7W5Ncn16wmqokgpiKRLuS83KUxyZyv2sUYv"';
const FILTERS =
  '[{"dataSize":165},{"memcmp":{"offset":32,"bytes":"3Mc6vR","encoding":"base58"}},"tokenAccountState"]';
const VIEW =
  '{"commitment":"confirmed","encoding":"json","transactionDetails":"accounts","showRewards":true,"maxSupportedTransactionVersion":0}';

/** Parameters of several subscriptions. */
export const seeds: readonly Uint8Array[] = [
  '[]',
  '[18446744073709551615]',
  `[${KEY},{"encoding":"base64","commitment":"processed","dataSlice":{"offset":1,"length":2}}]`,
  `[${KEY},{"filters":${FILTERS},"withContext":true,"encoding":"jsonParsed"}]`,
  `[{"mentions":[${KEY}]},{"commitment":"confirmed"}]`,
  `[${SIGNATURE},{"enableReceivedNotification":true}]`,
  `[{"mentionsAccountOrProgram":${KEY}},${VIEW}]`,
  `[{"vote":false,"failed":null,"signature":${SIGNATURE},"accountInclude":[${KEY}],"tokenAccounts":"all"},${VIEW}]`,
  `[{"accounts":{"include":[${KEY}],"exclude":[],"required":[${KEY}]}},${VIEW}]`,
].map((text) => Buffer.from(text));

/** Takes the parameters and checks that what goes upstream asks for the same subscription. */
function isAccepted(kind: SubscriptionKind, text: string): boolean {
  try {
    const subscription = parseSubscription(kind, parseJson(text));
    const again = parseSubscription(kind, parseJson(upstreamParams(subscription).toString()));
    if (topicKey(again) !== topicKey(subscription)) throw new Error('the subscription changed on its way');
    return true;
  } catch (error) {
    if (error instanceof RpcError || error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Whatever the parameters are, every kind takes them or refuses them with an error for the client. */
export function fuzz(input: Uint8Array): boolean {
  const text = Buffer.from(input).toString('utf8');
  const isEnd = accepted(() => parseRawUnsubscribe(Buffer.from(input)), RpcError, SyntaxError);
  return kinds.filter((kind) => isAccepted(kind, text)).length > 0 || isEnd;
}
