import type { RawUpdate } from '../../../protocol/geyser/raw-update.ts';
import type { BlocksFilter, SubscribeRequest } from '../../../protocol/geyser/subscribe-request.ts';

const has = (filters: Readonly<{ size: number }> | undefined): boolean => (filters?.size ?? 0) > 0;

/** Returns the kinds of updates that a request needs. Blocks are assembled from other updates. */
export function requestedKinds(request: SubscribeRequest): ReadonlySet<RawUpdate['kind']> {
  const { accounts, slots, transactions, transactionsStatus, blocks, blocksMeta, entry } = request;
  const anyBlock = (test: (filter: BlocksFilter) => boolean): boolean =>
    [...(blocks?.values() ?? [])].some(test);
  const requested: readonly (readonly [RawUpdate['kind'], boolean])[] = [
    ['account', has(accounts) || anyBlock(({ includeAccounts }) => includeAccounts === true)],
    [
      'transaction',
      has(transactions) ||
        has(transactionsStatus) ||
        anyBlock(({ includeTransactions }) => includeTransactions !== false),
    ],
    ['entry', (entry?.length ?? 0) > 0 || anyBlock(({ includeEntries }) => includeEntries === true)],
    ['blockMeta', (blocksMeta?.length ?? 0) > 0 || has(blocks)],
    ['slot', has(slots)],
  ];
  return new Set(requested.filter(([, isRequested]) => isRequested).map(([kind]) => kind));
}
