import type { JsonValue } from '../../base/json.ts';
import type { Subscription, SubscriptionKind, SubscriptionOf } from '../subscriptions.ts';
import { parseAccountSubscribe } from './accountSubscribe.ts';
import { parseBlockSubscribe } from './blockSubscribe.ts';
import { parseLogsSubscribe } from './logsSubscribe.ts';
import { parseProgramSubscribe } from './programSubscribe.ts';
import { parseRootSubscribe } from './rootSubscribe.ts';
import { parseSignatureSubscribe } from './signatureSubscribe.ts';
import { parseSlotSubscribe } from './slotSubscribe.ts';
import { parseSlotsUpdatesSubscribe } from './slotsUpdatesSubscribe.ts';
import { parseTransactionSubscribe } from './transactionSubscribe.ts';
import { parseVoteSubscribe } from './voteSubscribe.ts';

type Parsers = { readonly [Kind in SubscriptionKind]: (params: JsonValue | undefined) => Subscription };

const parsers: Parsers = {
  account: parseAccountSubscribe,
  block: parseBlockSubscribe,
  logs: parseLogsSubscribe,
  program: parseProgramSubscribe,
  root: parseRootSubscribe,
  signature: parseSignatureSubscribe,
  slot: parseSlotSubscribe,
  slotsUpdates: parseSlotsUpdatesSubscribe,
  transaction: parseTransactionSubscribe,
  vote: parseVoteSubscribe,
};

/**
 * The subscription that the parameters of a `…Subscribe` ask for, every default filled in.
 * @throws RpcError -32602 with Agave's words for what is wrong.
 */
export const parseSubscription = <Kind extends SubscriptionKind>(
  kind: Kind,
  params: JsonValue | undefined,
): SubscriptionOf<Kind> => parsers[kind](params) as SubscriptionOf<Kind>;
