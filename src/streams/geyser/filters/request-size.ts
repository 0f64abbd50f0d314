import type {
  CuckooFilterMessage,
  SubscribeDeshredRequest,
  SubscribeRequest,
} from '../../../protocol/geyser/subscribe-request.ts';

type Request = SubscribeRequest & SubscribeDeshredRequest;
type List = readonly unknown[] | undefined;

const lengths = (...lists: readonly List[]): number =>
  lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);

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

export const blocksCount = (request: SubscribeRequest | SubscribeDeshredRequest): number =>
  (request as Request).blocks?.size ?? 0;

/** Number of listed addresses, excluding those in cuckoo filters. */
export function pubkeysCount(request: SubscribeRequest | SubscribeDeshredRequest): number {
  const { accounts, transactions, transactionsStatus, blocks, deshredTransactions } = request as Request;
  let count = 0;
  for (const { account, owner } of accounts?.values() ?? []) count += lengths(account, owner);
  for (const map of [transactions, transactionsStatus, deshredTransactions]) {
    for (const filter of map?.values() ?? [])
      count += lengths(filter.accountInclude, filter.accountExclude, filter.accountRequired);
  }
  for (const { accountInclude } of blocks?.values() ?? []) count += lengths(accountInclude);
  return count;
}

/** Cuckoo filters count as at least this many bytes: they are not indexed, so each is tested on every update. */
const CUCKOO_MIN_BYTES = 65_536;

export function cuckooBytes(request: SubscribeRequest | SubscribeDeshredRequest): number {
  const { accounts, transactions, transactionsStatus, blocks } = request as Request;
  let bytes = 0;
  for (const { cuckooAccounts } of accounts?.values() ?? []) bytes += cuckooFilterBytes(cuckooAccounts);
  for (const map of [transactions, transactionsStatus, blocks]) {
    for (const filter of map?.values() ?? []) bytes += cuckooFilterBytes(filter.cuckooAccountInclude);
  }
  return bytes;
}

const cuckooFilterBytes = (filter: CuckooFilterMessage | undefined): number =>
  filter === undefined ? 0 : Math.max(CUCKOO_MIN_BYTES, filter.data.length);
