import type { SubscribeDeshredRequest } from '../../src/protocol/geyser/subscribe-deshred-request.ts';
import type {
  AccountsDataFilter,
  CuckooFilterMessage,
  SubscribeRequest,
  TransactionsFilter,
} from '../../src/protocol/geyser/subscribe-request.ts';

/** Requests in the shape of the published codec, without what is newer than it. */

const values = <T, R>(map: ReadonlyMap<string, T> | undefined, show: (value: T) => R) =>
  Object.fromEntries([...(map ?? [])].map(([at, value]) => [at, show(value)]));

const shownDataFilter = (filter: AccountsDataFilter) => ({
  memcmp:
    filter.kind === 'memcmp'
      ? { offset: String(filter.offset), bytes: filter.bytes, base58: undefined, base64: undefined }
      : undefined,
  datasize: filter.kind === 'dataSize' ? String(filter.bytes) : undefined,
  tokenAccountState: filter.kind === 'tokenAccountState' ? true : undefined,
  lamports: filter.kind === 'lamports' ? { [filter.compare]: String(filter.value) } : undefined,
});

const shownCuckoo = (filter: CuckooFilterMessage | undefined) =>
  filter && { ...filter, hashSeed: String(filter.hashSeed) };

const shownTransactions = (filter: TransactionsFilter) => ({
  vote: filter.vote,
  failed: filter.failed,
  signature: filter.signature,
  accountInclude: filter.accountInclude ?? [],
  accountExclude: filter.accountExclude ?? [],
  accountRequired: filter.accountRequired ?? [],
});

/** What the published codec should make of a request. */
export const shownRequest = (asked: SubscribeRequest) => ({
  accounts: values(asked.accounts, ({ account, owner, filters, nonemptyTxnSignature, cuckooAccounts }) => ({
    account: account ?? [],
    owner: owner ?? [],
    filters: (filters ?? []).map(shownDataFilter),
    nonemptyTxnSignature,
    cuckooAccountsFilter: shownCuckoo(cuckooAccounts),
  })),
  slots: values(asked.slots, (filter) => filter),
  transactions: values(asked.transactions, shownTransactions),
  transactionsStatus: values(asked.transactionsStatus, shownTransactions),
  blocks: values(asked.blocks, ({ cuckooAccountInclude: _newer, ...filter }) => ({
    ...filter,
    accountInclude: filter.accountInclude ?? [],
  })),
  blocksMeta: Object.fromEntries((asked.blocksMeta ?? []).map((each) => [each, {}])),
  entry: Object.fromEntries((asked.entry ?? []).map((each) => [each, {}])),
  commitment:
    asked.commitment === undefined
      ? undefined
      : ['processed', 'confirmed', 'finalized'].indexOf(asked.commitment),
  accountsDataSlice: (asked.accountsDataSlice ?? []).map(({ offset, length }) => ({
    offset: String(offset),
    length: String(length),
  })),
  fromSlot: asked.fromSlot === undefined ? undefined : String(asked.fromSlot),
  ping: asked.ping === undefined ? undefined : { id: asked.ping },
});

/** The same of the shred stage. */
export const shownDeshredRequest = (asked: SubscribeDeshredRequest) => ({
  deshredTransactions: values(asked.deshredTransactions, (filter) => ({
    vote: filter.vote,
    accountInclude: filter.accountInclude ?? [],
    accountExclude: filter.accountExclude ?? [],
    accountRequired: filter.accountRequired ?? [],
  })),
  slots: values(asked.slots, (filter) => filter),
  ping: asked.ping === undefined ? undefined : { id: asked.ping },
});
