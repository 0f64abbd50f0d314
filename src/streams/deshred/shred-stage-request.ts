import type { Named, SubscribeRequest, TransactionsFilter } from '../../protocol/geyser/subscribe-request.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';

/** Filter name that reconnecting clients add. Source: yellowstone-grpc client, reconnect. */
const RECONNECT_FILTER = '__autoreconnect';

/** Request fields without updates before execution. */
const unsupportedFields = {
  accounts: 'accounts',
  transactionsStatus: 'transactions_status',
  blocks: 'blocks',
  blocksMeta: 'blocks_meta',
  entry: 'entry',
} as const satisfies Partial<Record<keyof SubscribeRequest, string>>;

const namesOf = (filters: Named<unknown> | readonly string[] | undefined): readonly string[] =>
  filters === undefined ? [] : 'size' in filters ? [...filters.keys()] : filters;

/** Whether a transaction failed is not known yet. */
function withoutFailed({ failed: _, ...rest }: TransactionsFilter): TransactionsFilter {
  return rest;
}

/**
 * What of an ordinary `SubscribeRequest` the shred stage can tell: transactions and slots.
 *
 * - Filters of accounts, blocks, entries and transaction statuses are refused by name: to be told nothing, without a
 *   word, would look like a quiet chain. Those that clients in reconnect mode add themselves are passed over.
 * - `failed` in a filter of transactions is passed over: nobody knows yet.
 * - `token_accounts` is refused: who owns token accounts is told by balances after the run.
 * - `commitment` is passed over: everything is told before it has one.
 * - `from_slot` is passed over: the stream begins with what comes next. Clients send it when they connect again, and
 *   cannot do without the stream for it.
 * @throws GrpcError INVALID_ARGUMENT
 */
export function shredStageRequest(request: SubscribeRequest): SubscribeRequest {
  for (const [field, name] of Object.entries(unsupportedFields)) {
    const names = namesOf(request[field as keyof typeof unsupportedFields]);
    if (names.every((one) => one === RECONNECT_FILTER)) continue;
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `failed to create filter: ${name}: the shred stage tells of transactions and slots only; for the rest use the ` +
        'standard service, which a svc_grpc_live_ key opens',
    );
  }
  const { transactions, slots } = request;
  for (const [name, { tokenAccounts }] of transactions ?? []) {
    if (tokenAccounts === undefined || name === RECONNECT_FILTER) continue;
    throw new GrpcError(
      'INVALID_ARGUMENT',
      'failed to create filter: token_accounts: who owns token accounts is not known before a transaction was run; ' +
        'leave it out, or use the standard service, which a svc_grpc_live_ key opens',
    );
  }
  const transactionFilters = Array.from(
    transactions ?? [],
    ([name, filter]) => [name, withoutFailed(filter)] as const,
  );
  return { transactions: new Map(transactionFilters), slots: slots ?? new Map() };
}
