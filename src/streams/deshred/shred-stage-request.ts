import type {
  NamedFilters,
  SubscribeRequest,
  TransactionsFilter,
} from '../../protocol/geyser/subscribe-request.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';

/** Name of the filter that reconnecting clients add. Source: yellowstone-grpc client, reconnect. */
const RECONNECT_FILTER = '__autoreconnect';

const unsupportedFields = {
  accounts: 'accounts',
  transactionsStatus: 'transactions_status',
  blocks: 'blocks',
  blocksMeta: 'blocks_meta',
  entry: 'entry',
} as const satisfies Partial<Record<keyof SubscribeRequest, string>>;

const namesOf = (filters: NamedFilters<unknown> | readonly string[] | undefined): readonly string[] =>
  filters === undefined ? [] : 'size' in filters ? [...filters.keys()] : filters;

/** Before execution, it is not known whether a transaction will fail. */
function withoutFailed({ failed: _, ...rest }: TransactionsFilter): TransactionsFilter {
  return rest;
}

/**
 * Reduces a `SubscribeRequest` to the transactions and slots that the shred stage supports.
 *
 * - Filters for accounts, blocks, entries and transaction statuses are rejected: if they were ignored, a client
 *   would conclude that nothing matches. Filters that reconnecting clients add are ignored.
 * - `commitment`, and `failed` in transaction filters, are ignored: neither is known before execution.
 * - `token_accounts` is rejected: only balances after execution show the owners of token accounts.
 * - `from_slot` is ignored: clients send it when they reconnect, and need the stream even without replay.
 * @throws GrpcError INVALID_ARGUMENT
 */
export function shredStageRequest(request: SubscribeRequest): SubscribeRequest {
  for (const [field, name] of Object.entries(unsupportedFields)) {
    const names = namesOf(request[field as keyof typeof unsupportedFields]);
    if (names.every((one) => one === RECONNECT_FILTER)) continue;
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `failed to create filter: ${name}: the shred stage sends transactions and slots only; for other updates use the ` +
        'standard service with a svc_grpc_live_ key',
    );
  }
  const { transactions, slots } = request;
  for (const [name, { tokenAccounts }] of transactions ?? []) {
    if (tokenAccounts === undefined || name === RECONNECT_FILTER) continue;
    throw new GrpcError(
      'INVALID_ARGUMENT',
      'failed to create filter: token_accounts: owners of token accounts are unknown before execution; remove it, or ' +
        'use the standard stream with a svc_grpc_live_ key',
    );
  }
  const transactionFilters = Array.from(
    transactions ?? [],
    ([name, filter]) => [name, withoutFailed(filter)] as const,
  );
  return { transactions: new Map(transactionFilters), slots: slots ?? new Map() };
}
