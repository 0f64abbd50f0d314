import type { SubscribeDeshredRequest } from '../../../protocol/geyser/subscribe-deshred-request.ts';
import type { CuckooFilterMessage, SubscribeRequest } from '../../../protocol/geyser/subscribe-request.ts';

type Request = SubscribeRequest & SubscribeDeshredRequest;
type List = readonly unknown[] | undefined;

const lengths = (...lists: readonly List[]): number =>
  lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);

/** Addresses in a cuckoo filter: each is a u16 that is not 0. */
function entriesIn(message: CuckooFilterMessage | undefined): number {
  const data = message?.data ?? new Uint8Array();
  let entries = 0;
  for (let i = 0; i + 1 < data.length; i += 2) {
    if (data[i] !== 0 || data[i + 1] !== 0) entries += 1;
  }
  return entries;
}

/** Filters that a request names, of all kinds. */
export function filtersCount(request: SubscribeRequest | SubscribeDeshredRequest): number {
  const {
    accounts,
    slots,
    transactions,
    transactionsStatus,
    blocks,
    deshredTransactions,
    blocksMeta,
    entry,
  } = request as Request;
  const maps = [accounts, slots, transactions, transactionsStatus, blocks, deshredTransactions];
  return maps.reduce((sum, map) => sum + (map?.size ?? 0), lengths(blocksMeta, entry));
}

/** Addresses that the filters of a request name, those in cuckoo filters among them. */
export function pubkeysCount(request: SubscribeRequest | SubscribeDeshredRequest): number {
  const { accounts, transactions, transactionsStatus, blocks, deshredTransactions } = request as Request;
  let count = 0;
  for (const { account, owner, cuckooAccounts } of accounts?.values() ?? [])
    count += lengths(account, owner) + entriesIn(cuckooAccounts);
  for (const map of [transactions, transactionsStatus, deshredTransactions]) {
    for (const filter of map?.values() ?? [])
      count += lengths(filter.accountInclude, filter.accountExclude, filter.accountRequired);
  }
  for (const map of [transactions, transactionsStatus, blocks]) {
    for (const { cuckooAccountInclude } of map?.values() ?? []) count += entriesIn(cuckooAccountInclude);
  }
  for (const { accountInclude } of blocks?.values() ?? []) count += lengths(accountInclude);
  return count;
}
