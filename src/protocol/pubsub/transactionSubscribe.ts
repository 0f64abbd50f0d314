import type { JsonValue } from '../../base/json.ts';
import { at, configObject, lenientCommitment, positional } from '../rpc/parameters.ts';
import { invalidParams } from '../rpc-error.ts';
import type { SubscriptionOf, TransactionView } from '../subscriptions.ts';
import { readTransactionFilter } from './transaction-filter.ts';
import { transactionViewOf } from './transaction-view.ts';

/** The flat dialect does not guess which versions a client understands that wants to see messages. */
function requireMaxVersion(view: TransactionView): void {
  if (view.maxVersion !== undefined || view.details === 'signatures' || view.details === 'none') return;
  throw invalidParams(
    'Invalid Request: maxSupportedTransactionVersion is required for transactionDetails "full" and "accounts"',
  );
}

/**
 * `filter, {commitment, encoding, transactionDetails, showRewards, maxSupportedTransactionVersion}`, the filter
 * in either dialect of `transaction-filter.ts`.
 */
export function parseTransactionSubscribe(params: JsonValue | undefined): SubscriptionOf<'transaction'> {
  const list = positional(params, 1, 2);
  const filter = at(list, 0, readTransactionFilter);
  const config = configObject(list[1], 'TransactionSubscribeOptions');
  const view = transactionViewOf(config);
  const verified = filter.verify();
  if (filter.dialect === 'helius') requireMaxVersion(view);
  return {
    kind: 'transaction',
    dialect: filter.dialect,
    filter: verified,
    commitment: lenientCommitment(config),
    ...view,
  };
}
